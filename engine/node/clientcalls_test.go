package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
)

// fake is a provider of one instance, "a"; what the tests do not call is missing.
type fake struct {
	engine.Provider
	engine.ProviderAdmin
	history []engine.Event
	custom  *engine.CustomStatus
	values  map[string]string
	sent    []engine.WorkItem
	err     error // of every call
	managed bool
	pins    map[string]*engine.Version
}

func (f *fake) EnqueueForOrchestrator(_ context.Context, item engine.WorkItem, _ time.Duration) error {
	f.sent = append(f.sent, item)
	return f.err
}

func (f *fake) Read(context.Context, string) ([]engine.Event, error) { return f.history, f.err }

func (f *fake) GetCustomStatus(context.Context, string, uint64) (*engine.CustomStatus, error) {
	return f.custom, f.err
}

func (f *fake) GetKVValue(_ context.Context, _, key string) (*string, error) {
	if v, ok := f.values[key]; ok {
		return &v, f.err
	}
	return nil, f.err
}

func (f *fake) GetKVAllValues(context.Context, string) ([]engine.KVPair, error) {
	return []engine.KVPair{{Key: "k", Value: f.values["k"]}}, f.err
}

func (f *fake) Admin() engine.ProviderAdmin {
	if f.managed {
		return f
	}
	return nil
}

func (f *fake) DeleteInstance(context.Context, string, bool) (*engine.DeleteInstanceResult, error) {
	return &engine.DeleteInstanceResult{InstancesDeleted: 1}, f.err
}

func (f *fake) ListInstancesByStatus(context.Context, engine.Status) ([]string, error) {
	var ids []string
	for id := range f.pins {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, f.err
}

func (f *fake) GetInstanceInfo(context.Context, string) (*engine.InstanceInfo, error) {
	return &engine.InstanceInfo{CurrentExecutionID: 3}, nil
}

func (f *fake) GetExecutionInfo(_ context.Context, id string, execution uint64) (*engine.ExecutionInfo, error) {
	if execution != 3 {
		return nil, engine.Permanentf("get_execution_info", "not found")
	}
	return &engine.ExecutionInfo{PinnedVersion: f.pins[id]}, nil
}

func ExampleClient() {
	ctx := context.Background()
	provider := &fake{history: history(orderStarted), values: map[string]string{"k": "v"}}
	client := Client{Provider: provider}
	fmt.Println(client.Send(ctx, EnqueueEvent("a", "changes", "faster")), provider.sent[0].Kind())
	status, err := client.GetOrchestrationStatus(ctx, "a")
	fmt.Println(status.Kind, err)
	value, _ := client.GetKVValue(ctx, "a", "k")
	all, _ := client.GetKVAllValues(ctx, "a")
	fmt.Println(*value, all)
	_, err = client.Management()
	fmt.Println(err)
	// Output:
	// <nil> QueueMessage
	// Running <nil>
	// v [{k v}]
	// ManagementNotAvailable
}

// ExampleWaiting waits in a time of its own: the driver says what time it is, and waits as long as it is told.
func ExampleWaiting() {
	provider := &fake{history: history(orderStarted)}
	wait := Client{Provider: provider}.WaitForOrchestration("a", time.Minute)
	for nowMs := int64(0); ; {
		status, again, err := wait.Poll(context.Background(), nowMs)
		if again == 0 {
			fmt.Println("at", nowMs, status.Kind, err)
			return
		}
		fmt.Println("at", nowMs, status.Kind, "again in", again)
		nowMs += again.Milliseconds()
		if nowMs == 35 {
			provider.history = history(orderStarted, engine.OrchestrationCompleted{Output: "done"})
		}
	}
	// Output:
	// at 0 Running again in 5ms
	// at 5 Running again in 10ms
	// at 15 Running again in 20ms
	// at 35 Completed <nil>
}

// TestWaits: what ends each wait, and what it waits for meanwhile.
func TestWaits(t *testing.T) {
	ctx := context.Background()
	running, done := history(orderStarted), history(orderStarted, engine.OrchestrationCompleted{})
	status := "busy"
	poll := func(p *fake, nowMs int64, w *Waiting[OrchestrationStatus]) string {
		s, again, err := w.Poll(ctx, nowMs)
		return fmt.Sprint(s.Kind, " ", again, " ", err)
	}
	for _, c := range []struct {
		name string
		p    *fake
		wait func(Client) *Waiting[OrchestrationStatus]
		at   []int64
		want string
	}{
		{"no time, ended", &fake{history: done}, func(c Client) *Waiting[OrchestrationStatus] { return c.WaitForOrchestration("a", 0) }, []int64{9}, "Completed 0s <nil>"},
		{"no time", &fake{history: running}, func(c Client) *Waiting[OrchestrationStatus] { return c.WaitForOrchestration("a", 0) }, []int64{9}, "Running 0s Timeout"},
		{"not there yet", &fake{}, func(c Client) *Waiting[OrchestrationStatus] { return c.WaitForOrchestration("a", time.Second) }, []int64{9}, "NotFound 5ms <nil>"},
		{"at most the rest", &fake{history: running}, func(c Client) *Waiting[OrchestrationStatus] {
			return c.WaitForOrchestration("a", 12*time.Millisecond)
		}, []int64{9, 14}, "Running 7ms <nil>"},
		{"over", &fake{history: running}, func(c Client) *Waiting[OrchestrationStatus] {
			return c.WaitForOrchestration("a", 12*time.Millisecond)
		}, []int64{9, 21}, "Running 0s Timeout"},
		{"provider error", &fake{err: engine.Retryablef("read", "busy")}, func(c Client) *Waiting[OrchestrationStatus] { return c.WaitForOrchestration("a", time.Second) }, []int64{9}, "NotFound 0s Provider: read: busy"},
		{"status seen", &fake{history: running, custom: &engine.CustomStatus{Status: &status, Version: 2}}, func(c Client) *Waiting[OrchestrationStatus] {
			return c.WaitForStatusChange("a", 2, 70*time.Millisecond, time.Second)
		}, []int64{9, 79}, "Running 70ms <nil>"},
		{"status new", &fake{history: running, custom: &engine.CustomStatus{Status: &status, Version: 3}}, func(c Client) *Waiting[OrchestrationStatus] {
			return c.WaitForStatusChange("a", 2, 70*time.Millisecond, time.Second)
		}, []int64{9}, "Running 0s <nil>"},
		{"status, ended", &fake{history: done}, func(c Client) *Waiting[OrchestrationStatus] {
			return c.WaitForStatusChange("a", 2, 70*time.Millisecond, time.Second)
		}, []int64{9}, "Completed 0s <nil>"},
	} {
		w, got := c.wait(Client{Provider: c.p}), ""
		for _, at := range c.at {
			got = poll(c.p, at, w)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	p := &fake{}
	w := Client{Provider: p}.WaitForKVValue("a", "k", time.Second)
	if _, again, err := w.Poll(ctx, 0); again != 5*time.Millisecond || err != nil {
		t.Errorf("a key that is not there: %v %v", again, err)
	}
	p.values = map[string]string{"k": "v"}
	if v, again, err := w.Poll(ctx, 5); v != "v" || again != 0 || err != nil {
		t.Errorf("a key that is there: %q %v %v", v, again, err)
	}
}

func TestClientErrors(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		err       error
		want      ClientErrorKind
		retryable bool
	}{
		{engine.Permanentf("delete", "instance a Not Found"), ClientInstanceNotFound, false},
		{engine.Permanentf("delete", "a is still running"), ClientInstanceStillRunning, false},
		{engine.Permanentf("delete", "a is a sub-orchestration"), ClientCannotDeleteSubOrchestration, false},
		{engine.Permanentf("delete", "delete the root instead"), ClientCannotDeleteSubOrchestration, false},
		{engine.Permanentf("delete", "no"), ClientProvider, false},
		{engine.Retryablef("delete", "busy"), ClientProvider, true},
	} {
		_, err := Client{Provider: &fake{managed: true, err: c.err}}.DeleteInstance(ctx, "a", false)
		var e *ClientError
		if !errors.As(err, &e) || e.Kind != c.want || e.Retryable() != c.retryable || !errors.Is(err, c.err) {
			t.Errorf("%v became %v", c.err, err)
		}
	}
	if _, err := (Client{Provider: &fake{}}).DeleteInstance(ctx, "", false); err == nil || err.(*ClientError).Kind != ClientInvalidInput {
		t.Errorf("no id: %v", err)
	}
	if err := error(&ClientError{Kind: ClientTimeout}); !err.(*ClientError).Retryable() || err.Error() != "Timeout" {
		t.Errorf("%v", err)
	}
	if s, err := (Client{Provider: &fake{managed: true}}).DeleteInstance(ctx, "a", false); err != nil || s.InstancesDeleted != 1 {
		t.Errorf("%v %v", s, err)
	}
}

func ExampleEncodeTyped() {
	order, _ := EncodeTyped(struct{ Items int }{3})
	text, _ := EncodeTyped("three")
	fmt.Println(order, text)
	back, err := DecodeTyped[struct{ Items int }](order)
	fmt.Println(back, err)
	plain, err := DecodeTyped[string](text)
	quoted, _ := DecodeTyped[string](`"three"`)
	fmt.Println(plain, quoted, err)
	_, err = DecodeTyped[int](text)
	fmt.Println(err != nil)
	// Output:
	// {"Items":3} three
	// {3} <nil>
	// three three <nil>
	// true
}

func ExampleClient_RunningVersionSpread() {
	one, two := engine.MustParseVersion("1.5.0"), engine.MustParseVersion("2.0.0")
	provider := &fake{managed: true, pins: map[string]*engine.Version{"a": &two, "b": &one, "c": nil, "d": &one}}
	spread, err := Client{Provider: provider}.RunningVersionSpread(context.Background())
	for _, v := range spread {
		fmt.Println(v.Pin, v.Instances)
	}
	fmt.Println(FilteredOut(spread, engine.FilterFor(engine.MustParseRange("1.x"))), err)
	// Output:
	// <nil> 1
	// 1.5.0 2
	// 2.0.0 1
	// 1 <nil>
}

func ExampleLog_Record() {
	line := Log{Level: LevelWarn, Text: "ignoring duplicate completion", Instance: "order-1", Fields: []Field{{"id", "3"}}}
	handler := slog.NewTextHandler(os.Stdout, nil)
	fmt.Println(handler.Handle(context.Background(), line.Record(1500)))
	// Output:
	// time=1970-01-01T00:00:01.500Z level=WARN msg="ignoring duplicate completion" instance=order-1 id=3
	// <nil>
}
