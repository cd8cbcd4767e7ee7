package safety

import (
	"reflect"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// bytesRig shows stored bytes to a checker, in a call of that number.
type bytesRig struct {
	m    *check.Monitor
	call uint64
}

func newBytesRig(call uint64) bytesRig {
	w := &fakeWorld{builds: engine.ShippedBuilds(), plan: &plan.Plan{}}
	w.nodes = []cluster.NodeInfo{{Number: 1, Name: "A", Incarnation: 1, Build: w.builds[1], Options: node.DefaultOptions()}}
	codec, err := engine.WithoutFields(w.builds[1].Codec, engine.Fields()[0])
	if err != nil {
		panic(err)
	}
	forgetful := *w.builds[1]
	forgetful.Codec = codec
	w.nodes = append(w.nodes, cluster.NodeInfo{Number: 2, Name: "B", Incarnation: 1, Build: &forgetful, Options: node.DefaultOptions()})
	m := check.New(w, func(string) bool { return true })
	m.Add(newAtomicChecker(m.Run))
	for no := uint32(1); no <= 2; no++ {
		m.Record(&cluster.Record{Kind: record.NodeStarted, Node: no, Incarnation: 1})
	}
	m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "a"})
	return bytesRig{m, call}
}

func (r bytesRig) found() string {
	var lines []string
	for _, v := range r.m.Violations() {
		lines = append(lines, v.Node+" "+v.Instance+": "+v.Message)
	}
	return strings.Join(lines, "\n")
}

// message shows a message that the call of a caller stores.
func (r bytesRig) message(by observe.Caller, item engine.WorkItem, no observe.MessageNo, bytes string) string {
	r.m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: r.call, CallKind: observe.CallEnqueueForOrchestrator, Caller: by, Request: &observe.CallRequest{}})
	r.m.Observe(&observe.Observation{Kind: observe.RowInserted, Call: r.call, Instance: 1, Message: no, Item: item, Bytes: []byte(bytes)})
	return r.found()
}

// event shows an event that an ack of these events stores.
func (r bytesRig) event(delta []engine.Event, id uint64, bytes string) string {
	q := &observe.CallRequest{}
	if delta != nil {
		q.Ack = &engine.OrchestrationAck{HistoryDelta: delta}
	}
	r.m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: r.call, CallKind: observe.CallAckOrchestrationItem, Request: q})
	r.m.Observe(&observe.Observation{Kind: observe.EventAppended, Call: r.call, Instance: 1, Execution: 1, EventID: id, Bytes: []byte(bytes)})
	return r.found()
}

// TestStoredBytesSayWhatWasSaid stores messages and events with the right bytes, and with bytes whose contents differ.
func TestStoredBytesSayWhatWasSaid(t *testing.T) {
	codec := planterm.FindBuild(engine.ShippedBuilds(), "2.0.0").Codec
	status := "busy"
	items := []engine.WorkItem{
		engine.StartItem{Instance: "a", Orchestration: "O", Input: "\"<é", Version: "1.0.0", ParentInstance: "p", ParentID: 3, ParentExecutionID: 2, ExecutionID: 1},
		engine.ContinueAsNewItem{Instance: "a", Orchestration: "O", Input: "i", Version: "1.0.0", CarryForwardEvents: []engine.CarriedEvent{{Name: "n", Data: "d"}}, InitialCustomStatus: &status},
		engine.ActivityExecuteItem{Instance: "a", ExecutionID: 1, ID: 2, Name: "W", Input: "i", SessionID: "s", Tag: "t"},
		engine.ActivityFailedItem{Instance: "a", ExecutionID: 1, ID: 2, Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "no"}}},
		engine.TimerFiredItem{Instance: "a", ExecutionID: 1, ID: 2, FireAtMs: 77},
		engine.SubOrchCompletedItem{ParentInstance: "p", ParentExecutionID: 1, ParentID: 4, Result: "r"},
		engine.CancelInstanceItem{Instance: "a", Reason: "because"},
	}
	wrongs := []string{`"a"`, `"p"`, `"i"`, `"t"`, `"s"`, `"d"`, `"r"`, `"no"`, `"busy"`, `"because"`, ":77", ":2", ":1"}
	for _, item := range items {
		data, err := codec.AppendWorkItem(nil, item)
		if err != nil {
			t.Fatal(err)
		}
		tell := func(bytes string) string {
			return newBytesRig(bytesEvery-1).message(observe.Caller{}, item, 1, bytes)
		}
		if seen := tell(string(data)); seen != "" {
			t.Errorf("%s: %s", data, seen)
		}
		for _, old := range append(wrongs, `"`+string(item.Kind())+`"`) {
			if other := strings.Replace(string(data), old, old[:1]+"9"+old[1:], 1); other != string(data) && tell(other) == "" {
				t.Errorf("%s is taken for %+v", other, item)
			}
		}
		if other := strings.Replace(string(data), `{"`, `{"beyond":"x","`, 2); tell(other) == "" {
			t.Errorf("%s is taken for %+v", other, item)
		}
	}
	events := []engine.Event{
		{EventID: 7, SourceEventID: 2, InstanceID: "a", ExecutionID: 1, TimestampMs: 77, DuroxideVersion: "1.5.0", Data: eventdata.ActivityCompleted{Result: "r"}},
		{EventID: 7, InstanceID: "a", ExecutionID: 1, TimestampMs: 77, DuroxideVersion: "1.5.0", Data: eventdata.ActivityScheduled{Name: "W", Input: "i", SessionID: "s", Tag: "t"}},
		{EventID: 7, InstanceID: "a", ExecutionID: 1, TimestampMs: 77, DuroxideVersion: "1.5.0", Data: eventdata.CustomStatusUpdated{Status: &status}},
	}
	for _, e := range events {
		data, err := codec.AppendEvent(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		tell := func(bytes string) string {
			return newBytesRig(bytesEvery-7).event([]engine.Event{{EventID: 6}, e}, 7, bytes)
		}
		if seen := tell(string(data)); seen != "" {
			t.Errorf("%s: %s", data, seen)
		}
		for _, old := range append(wrongs, `"1.5.0"`, ":7,", `"`+string(e.Kind())+`"`) {
			if other := strings.Replace(string(data), old, old[:1]+"9"+old[1:], 1); other != string(data) && tell(other) == "" {
				t.Errorf("%s is taken for %+v", other, e)
			}
		}
		if other := strings.Replace(string(data), `{"`, `{"beyond":"x","`, 1); tell(other) == "" {
			t.Errorf("%s is taken for %+v", other, e)
		}
		if seen := newBytesRig(bytesEvery-7).event(nil, 7, "{}"); seen != "" {
			t.Errorf("an event that no ack gave: %s", seen)
		}
		if seen := newBytesRig(bytesEvery-7).event([]engine.Event{{EventID: 8, Data: e.Data}, {EventID: 7}}, 7, "{}"); seen != "" {
			t.Errorf("an event that the ack does not have: %s", seen)
		}
	}
}

// TestWhatIsDecoded checks which stored bytes are decoded, and what is said of them.
func TestWhatIsDecoded(t *testing.T) {
	item := engine.CancelInstanceItem{Instance: "a", Reason: "because"}
	event := []engine.Event{{EventID: 7, Data: eventdata.TimerFired{}}}
	const (
		enqueues = "enqueue_for_orchestrator by a client stores "
		acks     = "ack_orchestration_item by a client stores "
	)
	client, forgetful := observe.Caller{}, observe.Caller{Node: 2, Incarnation: 1}
	for _, row := range []struct{ name, got, want string }{
		{"no JSON", newBytesRig(bytesEvery-1).message(client, item, 1, "{"), " a: " + enqueues + "{: no CancelInstance"},
		{"a text", newBytesRig(bytesEvery-1).message(client, item, 1, `"CancelInstance"`), " a: " + enqueues + `"CancelInstance": no CancelInstance`},
		{"a list", newBytesRig(bytesEvery-1).message(client, item, 1, `[{}]`), " a: " + enqueues + `[{}]: no CancelInstance`},
		{"nothing in it", newBytesRig(bytesEvery-1).message(client, item, 1, `{}`), " a: " + enqueues + `{}: no CancelInstance`},
		{"two messages", newBytesRig(bytesEvery-1).message(client, item, 1, `{"CancelInstance":{"instance":"a","reason":"because"},"x":{}}`),
			" a: " + enqueues + `{"CancelInstance":{"instance":"a","reason":"because"},"x":{}}: no CancelInstance`},
		{"a message that is a text", newBytesRig(bytesEvery-1).message(client, item, 1, `{"CancelInstance":"a"}`), " a: " + enqueues + `{"CancelInstance":"a"}: no CancelInstance`},
		{"another kind", newBytesRig(bytesEvery-1).message(client, item, 1, `{"Other":{"instance":"a","reason":"because"}}`), " a: " + enqueues + `{"Other":{"instance":"a","reason":"because"}}: no CancelInstance`},
		{"another instance", newBytesRig(bytesEvery-1).message(client, item, 1, `{"CancelInstance":{"instance":"b","reason":"because"}}`),
			" a: " + enqueues + `{"CancelInstance":{"instance":"b","reason":"because"}}: expected instance to be a`},
		{"more than that", newBytesRig(bytesEvery-1).message(client, item, 1, `{"CancelInstance":{"instance":"a","reason":"because","x":1}}`),
			" a: " + enqueues + `{"CancelInstance":{"instance":"a","reason":"because","x":1}}: expected nothing beyond {Instance:a Reason:because}`},
		{"by a node", newBytesRig(bytesEvery-1).message(observe.Caller{Node: 1, Incarnation: 1}, item, 1, "{"), "A a: enqueue_for_orchestrator by A (build 1.5.0, start 1) stores {: no CancelInstance"},
		{"by a node that leaves out fields", newBytesRig(bytesEvery-1).message(forgetful, item, 1, "{"), ""},
		{"by a caller that is no node", newBytesRig(bytesEvery-1).message(observe.Caller{Node: 9, Incarnation: 1}, item, 1, "{"), ""},
		{"one of many", newBytesRig(bytesEvery-1).message(client, item, 2, "{"), ""},
		{"no bytes", newBytesRig(bytesEvery-1).message(client, item, 1, ""), ""},
		{"no message", newBytesRig(bytesEvery-1).message(client, nil, 1, "{"), ""},
		{"an event that is no JSON", newBytesRig(bytesEvery-7).event(event, 7, "{"), " a: " + acks + "{: no TimerFired"},
		{"an event without a kind", newBytesRig(bytesEvery-7).event(event, 7, "{}"), " a: " + acks + "{}: no TimerFired"},
		{"an event whose kind is no text", newBytesRig(bytesEvery-7).event(event, 7, `{"type":1}`), " a: " + acks + `{"type":1}: no TimerFired`},
		{"an event of another kind", newBytesRig(bytesEvery-7).event(event, 7, `{"type":"TimerCreated"}`), " a: " + acks + `{"type":"TimerCreated"}: no TimerFired`},
		{"an event of another number", newBytesRig(bytesEvery-7).event(event, 7, `{"type":"TimerFired","event_id":8}`), " a: " + acks + `{"type":"TimerFired","event_id":8}: expected event_id to be 7`},
		{"another event", newBytesRig(bytesEvery-7).event(event, 8, "{"), ""},
	} {
		if row.got != row.want {
			t.Errorf("%s: found %q\nwant %q", row.name, row.got, row.want)
		}
	}
	between := newBytesRig(bytesEvery - 1)
	between.m.Observe(&observe.Observation{Kind: observe.RowInserted, Instance: 1, Message: bytesEvery, Item: item, Bytes: []byte("{")})
	if seen := between.found(); seen != "" {
		t.Errorf("between calls: %s", seen)
	}
}

// TestSameValue compares values of each type with JSON.
func TestSameValue(t *testing.T) {
	a := &atomicChecker{}
	two := int64(2)
	for _, row := range []struct {
		field any
		json  string
		want  bool
	}{
		{int64(-2), `-2`, true}, {int64(-2), `2`, false}, {int64(2), `"2"`, false}, {&two, `2`, true}, {(*int64)(nil), `2`, false}, {(*int64)(nil), `null`, true},
		{uint32(2), `2`, true}, {uint64(2), `3`, false}, {uint64(2), `"2"`, false}, {"x", `"x"`, true}, {"2", `2`, false}, {"", `null`, true}, {"x", `null`, false},
		{true, `true`, true}, {true, `false`, false}, {false, `false`, true}, {true, `"true"`, false}, {0, `null`, true}, {[]string{}, `null`, true}, {[]string{"x"}, `null`, false}, {[]string{""}, `null`, false},
		{[]string{"x", "y"}, `["y","x"]`, true}, {[]string{"x", "x"}, `["x","y"]`, false}, {[]string{"x"}, `{"x":1}`, true}, {[]any{"x", uint64(3), nil, ""}, `{"a":[3,"x"]}`, true},
		{[]uint64{3, 0}, `[3]`, true}, {[]uint64{3}, `["4"]`, false},
	} {
		no, err := a.plain.read([]byte(row.json))
		if err != nil {
			t.Fatal(err)
		}
		if got := a.same(reflect.ValueOf(row.field), &a.plain.values[no]); got != row.want {
			t.Errorf("%#v and %s: the same %t, want %t", row.field, row.json, got, row.want)
		}
	}
}
