package upgrade_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestReadsAnExport reads an export of a database that two releases of duroxide wrote.
func TestReadsAnExport(t *testing.T) {
	s, err := upgrade.Read(os.DirFS("../../duroxide-export/testdata"), "orders.jsonl", engine.ShippedBuilds())
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	var got []string
	for _, in := range s.Instances() {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", in.ID, in.Orchestration, in.Expect)))
	}
	for _, p := range s.Pins() {
		got = append(got, fmt.Sprintf("%v: %d", p.Pin, p.Instances))
	}
	for _, m := range s.Store.Messages {
		got = append(got, fmt.Sprintf("%s for %s in %v", m.Item.Kind(), m.Item.Target(), m.Delay.Round(24*time.Hour)))
	}
	got = append(got, fmt.Sprintf("%d ended", s.Ended))
	want := strings.Split(`family-1 Family
family-1::sub::2 Order
family-1::sub::3 Order
family-2 Family
family-2::sub::2 Order
family-2::sub::3 Order
mailbox-1 Mailbox
order-2 Order
order-3 Order
order-4 Order
order-5 Order
order-6 Order
poller-1 Poller eternal
render-1 Render
subscription-1 Subscription
0.1.26: 7
0.1.32: 7
TimerFired for subscription-1 in 720h0m0s
TimerFired for poller-1 in 0s
ExternalRaised for order-2 in 0s
QueueMessage for mailbox-1 in 0s
StartOrchestration for order-6 in 0s
ActivityExecute for render-1 in 0s
2 ended`, "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

const (
	started   = `{"event_id":1,"source_event_id":null,"instance_id":"a","execution_id":1,"timestamp_ms":5,"duroxide_version":"1.5.0","type":"OrchestrationStarted","name":"Order","version":"1.0.0","input":"x","parent_instance":null,"parent_id":null}`
	scheduled = `{"event_id":2,"source_event_id":null,"instance_id":"a","execution_id":1,"timestamp_ms":5,"duroxide_version":"1.5.0","type":"ActivityScheduled","name":"Reserve","input":"x"}`
	done      = `{"event_id":3,"source_event_id":2,"instance_id":"a","execution_id":1,"timestamp_ms":5,"duroxide_version":"1.5.0","type":"ActivityCompleted","result":"x"}`
)

// TestProblems checks that an error names the file, line and field, and does not affect anything else: instance a is
// always read.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{`[1]`, `x.jsonl:3: expected a JSON object, found a array`},
		{`{"table":`, `x.jsonl:3: expected a JSON object: unexpected end of JSON input`},
		{`{"table":"history","instance_id":7}`, `x.jsonl:3: field "instance_id": expected a string, found a number`},
		{`{"table":"shelves","instance_id":"b"}`, `x.jsonl:3: field "table": "shelves": expected one of store, instances, executions, history, orchestrator_queue, worker_queue`},
		{`{"table":"store"}`, `x.jsonl:3: field "taken_at_ms": missing: expected when the export was taken, in milliseconds since 1970`},
		{`{"table":"instances"}`, `x.jsonl:3: field "instance_id": missing: expected the instance that this row of instances belongs to`},
		{`{"table":"instances","instance_id":"b"}`, `x.jsonl:3: field "orchestration_name": missing: expected what b runs`},
		{`{"table":"executions","instance_id":"b"}`, `x.jsonl:3: field "execution_id": missing: expected the number of the execution, from 1`},
		{`{"table":"executions","instance_id":"b","execution_id":1,"status":"Sleeping"}`, `x.jsonl:3: field "status": "Sleeping": expected Running, Completed, Failed or ContinuedAsNew`},
		{`{"table":"executions","instance_id":"b","execution_id":1,"pinned_version":"one"}`, `x.jsonl:3: field "pinned_version": version "one"`},
		{`{"table":"executions","instance_id":"b","execution_id":1}`, `x.jsonl:3: execution 1 of b has no history in this export: it is left out`},
		{`{"table":"executions","instance_id":"b","execution_id":1}` + "\n" + `{"table":"executions","instance_id":"b","execution_id":3}`, `x.jsonl:4: field "execution_id": execution 3 of b follows execution 1: the executions between them are missing`},
		{`{"table":"instances","instance_id":"a","orchestration_name":"Order","current_execution_id":1}` + "\n" + `{"table":"executions","instance_id":"a","execution_id":2}`, `x.jsonl:4: field "execution_id": execution 2 of a is above its current_execution_id, 1: it is left out`},
		{done + "\n" + strings.Replace(done, "3", "4", 1) + "\n" + `{"ExternalRaised":{"instance":"a","name":"go","data":""}}`, `x.jsonl:4: field "source_event_id": event 4 of execution 1 of a ends event 2, which event 3 has ended`},
		{`{"TimerFired":{"instance":"a","execution_id":1,"id":2,"fire_at_ms":0}}`, `x.jsonl:3: field "work_item": TimerFired belongs to event 2 of execution 1 of a, which is ActivityScheduled, and no TimerCreated`},
		{`{"table":"executions","instance_id":"a","execution_id":1}` + "\n" + strings.NewReplacer(`_id":2`, `_id":null`, `ActivityCompleted","result`, `OrchestrationCompleted","output`).Replace(done), `x.jsonl:3: field "status": execution 1 of a is Running, and its history ends with OrchestrationCompleted`},
		{`{"table":"history","instance_id":"b","execution_id":1}`, `x.jsonl:3: field "event_data": missing: expected the event`},
		{`{"table":"history","event_data":{"event_id":1}}`, `x.jsonl:3: field "instance_id": missing: expected the instance that the event belongs to`},
		{scheduled, `x.jsonl:3: field "event_id": event 2 of execution 1 of a stands at x.jsonl:2, too: the second is left out`},
		{strings.ReplaceAll(scheduled, `"a"`, `"b"`), `x.jsonl:3: field "event_id": execution 1 of b begins with event 2: the events before it are missing`},
		{`{"table":"orchestrator_queue"}`, `x.jsonl:3: field "work_item": missing: expected the message`},
		{`{"a":1}`, `x.jsonl:3: not a line of an export: expected a row with a "table" (one of store, instances, executions, history, orchestrator_queue, worker_queue, end), an event with a "type", or a message such as {"ExternalRaised": ...}`},
	} {
		fsys := fstest.MapFS{"x.jsonl": {Data: []byte(started + "\n" + scheduled + "\n" + c.lines + "\n")}}
		s := sample.Must(upgrade.Read(fsys, "x.jsonl", engine.ShippedBuilds()))(t)
		var got []string
		for _, p := range s.Problems {
			got = append(got, p.Error())
		}
		if len(got) == 0 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.lines, got, c.want)
		}
		if s.Store.Instance("a") == nil {
			t.Errorf("%s: instance a is lost", c.lines)
		}
	}
}

// TestLeftOut checks that what stores have in ordinary operation is no problem, but counted.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{`{"table":"instances","instance_id":"b","orchestration_name":"Order"}`, `instances without any execution or history: 1, x.jsonl:3: b`},
		{`{"table":"executions","instance_id":"b","execution_id":1,"status":"Failed"}`, ``},
		{`{"table":"history","instance_id":"a","execution_id":1,"event_id":3,"event_data":"{"}`, `contents of events that no build reads; nodes fail on them: 1, x.jsonl:3: event 3 of a: unexpected end of JSON input`},
		{`{"ExternalRaised":{"instance":"b","name":"go","data":""}}` + "\n" + `{"ActivityExecute":{"instance":"a","execution_id":1,"id":2,"name":"Reserve","input":"x"}}`, `messages for instances that the store does not have: 1, x.jsonl:3: ExternalRaised for b`},
	} {
		s, err := upgrade.Read(fstest.MapFS{"x.jsonl": {Data: []byte(started + "\n" + scheduled + "\n" + c.lines + "\n")}}, "x.jsonl", engine.ShippedBuilds())
		if err != nil || len(s.Problems) > 0 {
			t.Fatal(err, s.Problems)
		}
		var got []string
		for _, l := range s.LeftOut {
			got = append(got, fmt.Sprintf("%s: %d, %v", l.Reason, l.Count, l.Example))
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.lines, got, c.want)
		}
	}
}

// TestExpectations checks what the running instances are expected to do: a cancel request counts for descendants, too.
func TestExpectations(t *testing.T) {
	waits := "\n" + strings.NewReplacer(`"event_id":2`, `"event_id":9`, `ActivityScheduled","name":"Reserve","input":"x"`, `ExternalSubscribed","name":"go"`).Replace(scheduled)
	child := func(id, parent string) string {
		return strings.Replace(strings.ReplaceAll(started+waits, `"a"`, `"`+id+`"`), `"parent_instance":null,"parent_id":null`, `"parent_instance":"`+parent+`","parent_id":2`, 1)
	}
	looping := strings.NewReplacer(`"event_id":2`, `"event_id":3`, `ActivityScheduled","name":"Reserve"`, `OrchestrationContinuedAsNew"`).Replace(scheduled)
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{started + waits, child("b", "a"), child("c", "b"), `{"CancelInstance":{"instance":"a","reason":"r"}}`}, "a completed|failed, b completed|failed, c completed|failed"},
		{[]string{started + waits, child("b", "a"), child("c", "b"), `{"CancelInstance":{"instance":"b","reason":"r"}}`}, "a , b completed|failed, c completed|failed"},
		{[]string{started, strings.Replace(scheduled, `ActivityScheduled","name":"Reserve","input":"x"`, `OrchestrationCancelRequested","reason":"r"`, 1) + waits, `{"table":"end","lines":3}`}, "a completed|failed"},
		{[]string{started, looping, child("b", "q"), `{"ContinueAsNew":{"instance":"a","orchestration":"Order","input":"x","version":null,"carry_forward_events":[]}}`, `{"StartOrchestration":{"instance":"d","orchestration":"Order","input":"x","version":null,"parent_instance":null,"parent_id":null,"execution_id":1}}`}, "a eternal, b eternal, d eternal"},
	} {
		s := sample.Must(upgrade.Read(fstest.MapFS{"x.jsonl": {Data: []byte(strings.Join(c.lines, "\n"))}}, "x.jsonl", engine.ShippedBuilds()))(t)
		var got []string
		for _, in := range s.Instances() {
			got = append(got, fmt.Sprintf("%s %s", in.ID, in.Expect))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("got %q, want %q; problems %v", got, c.want, s.Problems)
		}
	}
}

// TestWithoutQueues checks what an export that consists of histories has under way, and who is stuck: nobody but the
// instances that nothing can wake. An end line says that the queues are empty.
func TestWithoutQueues(t *testing.T) {
	event := func(instance, kind, fields string, id, source int) string {
		return fmt.Sprintf(`{"event_id":%d,"source_event_id":%d,"instance_id":%q,"execution_id":1,"timestamp_ms":5000,"duroxide_version":"1.5.0","type":%q%s}`, id, source, instance, kind, fields)
	}
	of := func(instance string) string { return strings.ReplaceAll(started, `"a"`, `"`+instance+`"`) }
	child := event("a", "SubOrchestrationScheduled", `,"name":"Order","instance":"sub::2","input":"x"`, 2, 0)
	timer := event("a", "TimerCreated", `,"fire_at_ms":9000`, 3, 0)
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"an activity", "ActivityExecute for a in 0s", []string{started, scheduled}},
		{"one that has answered", "stuck: a", []string{started, scheduled, event("a", "ActivityCompleted", `,"result":"x"`, 3, 2)}},
		{"a timer counts from the latest event", "ActivityExecute for a in 0s, TimerFired for a in 4s", []string{started, scheduled, timer}},
		{"or from when the export was taken", "ActivityExecute for a in 0s, TimerFired for a in 3s", []string{started, scheduled, timer, `{"table":"store","taken_at_ms":6000}`}},
		{"a wait for an event", "", []string{started, event("a", "ExternalSubscribed", `,"name":"go"`, 2, 0)}},
		{"a child that has not begun", "StartOrchestration for a::sub::2 in 0s", []string{started, child}},
		{"a child that runs", "ActivityExecute for a::sub::2 in 0s", []string{started, child, of("a::sub::2"), strings.ReplaceAll(scheduled, `"a"`, `"a::sub::2"`)}},
		{"a child that has completed", "SubOrchCompleted for a in 0s", []string{started, child, of("a::sub::2"), event("a::sub::2", "OrchestrationCompleted", `,"output":"x"`, 2, 0)}},
		{"a child that is stuck", "TimerFired for a in 4s, stuck: a::sub::2, stuck: a, the end of a::sub::2", []string{started, child, of("a::sub::2"), timer}},
		{"the next execution", "ContinueAsNew for a in 0s", []string{started, event("a", "OrchestrationContinuedAsNew", `,"input":"x"`, 2, 0)}},
		{"empty queues", "stuck: a", []string{started, scheduled, `{"table":"end","lines":2}`}},
		{"a lost row", "TimerFired for a in 0s, stuck: a, ActivityExecute", []string{started, scheduled, timer, `{"TimerFired":{"instance":"a","execution_id":1,"id":3,"fire_at_ms":0}}`}},
	} {
		s, err := upgrade.Read(fstest.MapFS{"x.jsonl": {Data: []byte(strings.Join(c.lines, "\n"))}}, "x.jsonl", engine.ShippedBuilds())
		if err != nil || len(s.Problems) > 0 {
			t.Fatal(err, s.Problems)
		}
		var got []string
		for _, m := range s.Store.Messages {
			got = append(got, fmt.Sprintf("%s for %s in %v", m.Item.Kind(), m.Item.Target(), m.Delay))
		}
		for _, l := range s.LeftOut {
			got = append(got, "stuck: "+l.Example.Text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestStandInsBesideCode checks that a version in the store that the code no longer has stays without a handler if the
// code is to be kept, and gets a stand-in if not.
func TestStandInsBesideCode(t *testing.T) {
	s := sample.Must(upgrade.Read(fstest.MapFS{"x.jsonl": {Data: []byte(started)}}, "x.jsonl", engine.ShippedBuilds()))(t)
	for keep, want := range map[bool]string{true: "[Order@2.0.0]", false: "[Order@1.0.0]"} {
		r := node.NewRegistry()
		code := func(*orch.Context, string) (string, error) { return "", nil }
		sample.OK(t, errors.Join(r.Register("Order", engine.V(2, 0, 0), code), s.StandIns(r, keep, time.Minute)))
		if got := fmt.Sprint(r.Orchestrations()); got != want {
			t.Errorf("keep %v: %s, want %s", keep, got, want)
		}
	}
}

// TestDirectory checks that a directory is read file by file, and that a line may consist of just an event or a
// message.
func TestDirectory(t *testing.T) {
	fsys := fstest.MapFS{
		"d/1.jsonl":  {Data: []byte("\ufeff" + started + "\r\n\r\n" + scheduled + "\r\n")},
		"d/2.jsonl":  {Data: []byte(`{"ActivityExecute":{"instance":"a","execution_id":1,"id":2,"name":"Reserve","input":"x"}}`)},
		"d/note.txt": {Data: []byte("nothing")},
	}
	s, err := upgrade.Read(fsys, "d", engine.ShippedBuilds())
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	if in := s.Store.Instance("a"); in == nil || in.Orchestration != "Order" || len(in.Executions[0].Events) != 2 || len(s.Store.Messages) != 1 {
		t.Errorf("got %+v", s.Store)
	}
	if _, err := upgrade.Read(fstest.MapFS{"e/x": {}}, "e", nil); err == nil || !strings.Contains(err.Error(), "no file there ends in .jsonl") {
		t.Errorf("an empty directory: %v", err)
	}
}

// TestManyAlike reads a store with 2,000 instances of two kinds and one that is like no other. A few of each kind stand for
// all, whatever the order of the lines.
func TestManyAlike(t *testing.T) {
	var lines []string
	for i := range 2001 {
		kind := []string{"Order", "Bill"}[i%2]
		if i == 2000 {
			kind = "Audit"
		}
		lines = append(lines, strings.NewReplacer(`"a"`, fmt.Sprintf("%q", fmt.Sprintf("i-%04d", i)), "Order\"", kind+"\"").Replace(started),
			strings.ReplaceAll(scheduled, `"a"`, fmt.Sprintf(`"i-%04d"`, i)))
	}
	for range 2 {
		s, err := upgrade.Read(fstest.MapFS{"x.jsonl": {Data: []byte(strings.Join(lines, "\n"))}}, "x.jsonl", engine.ShippedBuilds())
		if err != nil || len(s.Problems) > 0 {
			t.Fatal(err, s.Problems)
		}
		running, queued, _ := s.Counts()
		got := []string{fmt.Sprint(running, queued, len(s.Store.Instances), s.Pins()[0].Instances, len(s.Alike([]string{"i-0000"})), len(s.Alike([]string{"i-2000"})))}
		for _, k := range s.Kinds() {
			got = append(got, fmt.Sprint(k))
		}
		want := []string{"2001 2001 7 2001 1000 1", "{i-0000 Order 1.5.0 1000 3}", "{i-0001 Bill 1.5.0 1000 3}"}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		slices.Reverse(lines)
	}
}
