package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// fake is a provider with a single instance, "a". It lacks the methods that the tests do not call.
type fake struct {
	engine.Provider
	engine.ProviderAdmin
	history []engine.Event
	custom  *engine.CustomStatus
	values  map[string]string
	sent    []engine.WorkItem
	err     error // returned by every call
	managed bool
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

// orderStarted is the first event in each of these tests' histories.
var orderStarted = eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "5"}

// history builds the events of execution 1 of instance a.
func history(data ...engine.EventData) []engine.Event {
	events := make([]engine.Event, len(data))
	for i, d := range data {
		events[i] = engine.Event{EventID: uint64(i + 1), InstanceID: "a", ExecutionID: 1, DuroxideVersion: "1.5.0", Data: d}
	}
	return events
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

// ExampleWaiting waits in simulated time: the caller sets the time and pauses for as long as Poll says.
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
			provider.history = history(orderStarted, eventdata.OrchestrationCompleted{Output: "done"})
		}
	}
	// Output:
	// at 0 Running again in 5ms
	// at 5 Running again in 10ms
	// at 15 Running again in 20ms
	// at 35 Completed <nil>
}

// TestWaits checks what ends each kind of wait, and how long the client pauses between polls.
func TestWaits(t *testing.T) {
	ctx := context.Background()
	running, done := history(orderStarted), history(orderStarted, eventdata.OrchestrationCompleted{})
	status := "busy"
	poll := func(p *fake, nowMs int64, w *Waiting[Status]) string {
		s, again, err := w.Poll(ctx, nowMs)
		return fmt.Sprint(s.Kind, " ", again, " ", err)
	}
	for _, c := range []struct {
		name string
		p    *fake
		wait func(Client) *Waiting[Status]
		at   []int64
		want string
	}{
		{"no time, ended", &fake{history: done}, func(c Client) *Waiting[Status] { return c.WaitForOrchestration("a", 0) }, []int64{9}, "Completed 0s <nil>"},
		{"no time", &fake{history: running}, func(c Client) *Waiting[Status] { return c.WaitForOrchestration("a", 0) }, []int64{9}, "Running 0s Timeout"},
		{"not there yet", &fake{}, func(c Client) *Waiting[Status] { return c.WaitForOrchestration("a", time.Second) }, []int64{9}, "NotFound 5ms <nil>"},
		{"at most the rest", &fake{history: running}, func(c Client) *Waiting[Status] {
			return c.WaitForOrchestration("a", 12*time.Millisecond)
		}, []int64{9, 14}, "Running 7ms <nil>"},
		{"over", &fake{history: running}, func(c Client) *Waiting[Status] {
			return c.WaitForOrchestration("a", 12*time.Millisecond)
		}, []int64{9, 21}, "Running 0s Timeout"},
		{"provider error", &fake{err: engine.Retryablef("read", "busy")}, func(c Client) *Waiting[Status] { return c.WaitForOrchestration("a", time.Second) }, []int64{9}, "NotFound 0s Provider: read: busy"},
		{"status seen", &fake{history: running, custom: &engine.CustomStatus{Status: &status, Version: 2}}, func(c Client) *Waiting[Status] {
			return c.WaitForStatusChange("a", 2, 70*time.Millisecond, time.Second)
		}, []int64{9, 79}, "Running 70ms <nil>"},
		{"status new", &fake{history: running, custom: &engine.CustomStatus{Status: &status, Version: 3}}, func(c Client) *Waiting[Status] {
			return c.WaitForStatusChange("a", 2, 70*time.Millisecond, time.Second)
		}, []int64{9}, "Running 0s <nil>"},
		{"status, ended", &fake{history: done}, func(c Client) *Waiting[Status] {
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
		want      ErrorKind
		retryable bool
	}{
		{engine.Permanentf("delete", "instance a Not Found"), ErrInstanceNotFound, false},
		{engine.Permanentf("delete", "a is still running"), ErrInstanceStillRunning, false},
		{engine.Permanentf("delete", "a is a sub-orchestration"), ErrCannotDeleteSubOrchestration, false},
		{engine.Permanentf("delete", "delete the root instead"), ErrCannotDeleteSubOrchestration, false},
		{engine.Permanentf("delete", "no"), ErrProvider, false},
		{engine.Retryablef("delete", "busy"), ErrProvider, true},
	} {
		_, err := Client{Provider: &fake{managed: true, err: c.err}}.DeleteInstance(ctx, "a", false)
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.want || e.Retryable() != c.retryable || !errors.Is(err, c.err) {
			t.Errorf("%v became %v", c.err, err)
		}
	}
	if _, err := (Client{Provider: &fake{}}).DeleteInstance(ctx, "", false); err == nil || err.(*Error).Kind != ErrInvalidInput {
		t.Errorf("no id: %v", err)
	}
	if err := error(&Error{Kind: ErrTimeout}); !err.(*Error).Retryable() || err.Error() != "Timeout" {
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
