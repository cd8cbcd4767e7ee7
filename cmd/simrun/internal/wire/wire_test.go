package wire_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/foreign"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// newStore returns an in-memory store for a server. Its clock starts at 1000.
func newStore() (*wire.Store, error) {
	s := memprovider.New(memprovider.Options{StartMs: 1000})
	codec := engine.NewJSONCodec("test", engine.Kinds2x(), engine.WorkItemKinds2x())
	return &wire.Store{Provider: s.Handle(codec, observe.Caller{}), NowMs: s.Now, SetClock: s.SetNow,
		Damage: func(c call.Call) error {
			e := c.(call.CorruptEvent)
			return s.Damage(e.Instance, e.ExecutionID, e.EventID, []byte("damaged"))
		}}, nil
}

// output is a buffer with a Close method that does nothing.
type output struct{ bytes.Buffer }

func (*output) Close() error { return nil }

func serve(t *testing.T, lines string) []string {
	t.Helper()
	var out output
	server := &wire.Server{New: newStore}
	sample.OK(t, server.Serve(t.Context(), strings.NewReader(lines), &out))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// TestServerRefuses checks that an invalid line gets an error that says what is wrong and where, and that the server
// continues with the next line.
func TestServerRefuses(t *testing.T) {
	const clock = `{"jsonrpc":"2.0","id":9,"method":"clock_now"}`
	for name, test := range map[string]struct{ line, want string }{
		"no JSON":       {`{"jsonrpc":`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: {\"jsonrpc\":"}}`},
		"no object":     {`7`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a request: 7"}}`},
		"a batch":       {`[{"jsonrpc":"2.0","id":1,"method":"clock_now"}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch; send one request a line"}}`},
		"no id":         {`{"jsonrpc":"2.0","method":"clock_now"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a request without an id; there are no notifications"}}`},
		"an answer":     {`{"jsonrpc":"2.0","id":1,"result":7}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a request: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}"}}`},
		"other version": {`{"jsonrpc":"1.0","id":1,"method":"clock_now"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid version marker"}}`},
		"strange id":    {`{"jsonrpc":"2.0","id":{},"method":"clock_now"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request ID"}}`},
		"unknown call":  {`{"jsonrpc":"2.0","id":1,"method":"fetch"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown method \"fetch\""}}`},
		"wrong type": {`{"jsonrpc":"2.0","id":1,"method":"read_with_execution","params":{"instance":"a","execution_id":"1"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.execution_id: want a whole number, got string"}}`},
		"missing parameter": {`{"jsonrpc":"2.0","id":1,"method":"read_with_execution","params":{"instance":"a"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.execution_id: missing"}}`},
		"missing inside": {`{"jsonrpc":"2.0","id":1,"method":"fetch_orchestration_item","params":{"lock_timeout_ms":1,"filter":{"supported_duroxide_versions":[{"min":"1.0.0"}]}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.filter.supported_duroxide_versions[0].max: missing"}}`},
		"unknown parameter": {`{"jsonrpc":"2.0","id":1,"method":"read","params":{"instance":"a","execution":1}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params: unknown field \"execution\""}}`},
		"parameters as an array": {`{"jsonrpc":"2.0","id":1,"method":"read","params":["a"]}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params: want an object, got array"}}`},
		"parameters of none as an array": {`{"jsonrpc":"2.0","id":1,"method":"describe","params":["a"]}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params: want an object, got array"}}`},
		"negative time": {`{"jsonrpc":"2.0","id":1,"method":"clock_advance","params":{"by_ms":-1}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.by_ms: want milliseconds from 0, got -1"}}`},
		"time goes back": {`{"jsonrpc":"2.0","id":1,"method":"clock_set","params":{"now_ms":999}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.now_ms: the clock stands at 1000 and does not go back to 999"}}`},
		"too much time": {`{"jsonrpc":"2.0","id":1,"method":"clock_advance","params":{"by_ms":9223372036854775807}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.by_ms: the clock stands at 1000; 9223372036854775807 more is too much"}}`},
		"senseless tag filter": {`{"jsonrpc":"2.0","id":1,"method":"fetch_work_item","params":{"lock_timeout_ms":1,"tag_filter":"Default"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.tag_filter: want a tag filter: \"DefaultOnly\", \"Any\", \"None\", {\"Tags\": [...]} or {\"DefaultAnd\": [...]}"}}`},
		"unknown event": {`{"jsonrpc":"2.0","id":1,"method":"append_with_execution","params":{"instance":"a","execution_id":1,"events":[{"event_id":1,"type":"Odd"}]}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.events[0]: codec oracle: event 1 of \"\", execution 0: Odd: field \"instance_id\": missing"}}`},
		"a provider's error": {`{"jsonrpc":"2.0","id":1,"method":"renew_work_item_lock","params":{"lock_token":"x","extend_for_ms":1}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":2,"message":"Invalid lock token \"x\": never given out"}}`},
		"damage to nothing": {`{"jsonrpc":"2.0","id":1,"method":"corrupt_event","params":{"instance":"a","execution_id":1,"event_id":1}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":2,"message":"damage: no event 1 of \"a\", execution 1"}}`},
		"too long": {`"` + strings.Repeat("x", foreign.MaxMessage) + `"`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message of 16777219 bytes exceeds the maximum of 16777216"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			want := []string{test.want, `{"jsonrpc":"2.0","id":9,"result":1000}`}
			if diff := cmp.Diff(want, serve(t, test.line+"\n\n"+clock)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestServerKeepsTheOrder checks that requests that arrive together take effect in order, and that all are answered
// even though the input has ended.
func TestServerKeepsTheOrder(t *testing.T) {
	var lines, want []string
	for range 200 {
		lines = append(lines, `{"jsonrpc":"2.0","id":"a","method":"clock_advance","params":{"by_ms":1}}`, `{"jsonrpc":"2.0","id":"b","method":"reset"}`)
		want = append(want, `{"jsonrpc":"2.0","id":"a","result":1001}`, `{"jsonrpc":"2.0","id":"b","result":null}`)
	}
	if diff := cmp.Diff(want, serve(t, strings.Join(lines, "\n"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func dial(t *testing.T) *wire.Client {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- (&wire.Server{New: newStore}).Serve(context.Background(), toServer, fromServer) }()
	client := sample.Must(wire.Dial(t.Context(), foreign.NewLines(toClient, fromClient), wire.ClientOptions{Patience: time.Minute}))(t)
	t.Cleanup(func() {
		sample.OK(t, fromClient.Close())
		sample.OK(t, <-served)
	})
	return client
}

// TestClientIsTheProvider checks that an orchestration's turn is the same with and without the wire protocol in
// between.
func TestClientIsTheProvider(t *testing.T) {
	over := dial(t)
	store := sample.Must(newStore())(t)
	pin := engine.V(1, 5, 0)
	output := "out"
	play := func(p engine.Provider) []any {
		var seen []any
		note := func(values ...any) {
			for _, v := range values {
				if err, ok := v.(error); ok {
					v = err.Error()
				}
				seen = append(seen, v)
			}
		}
		ctx := t.Context()
		start := engine.StartItem{Instance: "a", Orchestration: "Order", Version: "1.0.0", Input: "<&>\n\"é\u2028", ExecutionID: 1}
		note(p.EnqueueForOrchestrator(ctx, start, 1500*time.Microsecond))
		item, err := p.FetchOrchestrationItem(ctx, time.Second, 0, nil)
		note(item, err)
		note(p.EnqueueForOrchestrator(ctx, start, 0))
		item, err = p.FetchOrchestrationItem(ctx, time.Second, 0, engine.FilterFor(engine.VersionRange{Min: engine.V(1, 0, 0), Max: pin}))
		note(item, err)
		note(p.RenewOrchestrationItemLock(ctx, item.LockToken, 2*time.Second))
		note(p.AckOrchestrationItem(ctx, engine.OrchestrationAck{
			LockToken: item.LockToken, ExecutionID: 1,
			HistoryDelta: []engine.Event{
				{EventID: 1, InstanceID: "a", ExecutionID: 1, TimestampMs: 5, DuroxideVersion: "1.5.0", Data: eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "in"}},
				{EventID: 2, SourceEventID: 1, InstanceID: "a", ExecutionID: 1, TimestampMs: 5, DuroxideVersion: "1.5.0", Data: eventdata.ActivityCompleted{Result: "r"}},
			},
			WorkerItems:       []engine.WorkItem{engine.ActivityExecuteItem{Instance: "a", ExecutionID: 1, ID: 2, Name: "Charge", Input: "x"}},
			OrchestratorItems: []engine.WorkItem{engine.TimerFiredItem{Instance: "a", ExecutionID: 1, ID: 3, FireAtMs: 9000}},
			Metadata: engine.ExecutionMetadata{Status: engine.StatusCompleted, Output: &output, OrchestrationName: "Order", OrchestrationVersion: "1.0.0",
				ParentInstanceID: "p", ParentExecutionID: 1, ParentEventID: 4, PinnedVersion: &pin},
		}))
		note(p.Read(ctx, "a"))
		note(p.ReadWithExecution(ctx, "b", 1))
		work, err := p.FetchWorkItem(ctx, time.Second, 0, nil, engine.TagFilter{Mode: engine.TagDefaultAnd, Tags: []string{"gpu"}})
		note(work, err)
		note(p.AckWorkItem(ctx, work.LockToken, engine.ActivityCompletedItem{Instance: "a", ExecutionID: 1, ID: 2, Result: "r"}))
		note(p.AckWorkItem(ctx, work.LockToken, nil))
		item, err = p.FetchOrchestrationItem(ctx, time.Second, 0, &engine.CapabilityFilter{})
		note(item, err)
		item, err = p.FetchOrchestrationItem(ctx, time.Second, 0, nil)
		note(item, err)
		note(p.AbandonOrchestrationItem(ctx, item.LockToken, time.Second, true))
		admin := p.Admin()
		note(admin.ListInstances(ctx))
		note(admin.GetInstanceInfo(ctx, "a"))
		note(admin.GetInstanceInfo(ctx, "b"))
		note(admin.GetExecutionInfo(ctx, "a", 1))
		note(admin.GetParentID(ctx, "a"))
		note(admin.GetQueueDepths(ctx))
		note(admin.GetSystemMetrics(ctx))
		return seen
	}
	if diff := cmp.Diff(play(store.Provider), play(over)); diff != "" {
		t.Errorf("the client answers otherwise (-direct +over the wire):\n%s", diff)
	}
}
