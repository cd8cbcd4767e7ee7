package snapshot_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/snapshot"
	"github.com/durosim/durosim/engine"
	"github.com/google/go-cmp/cmp"
)

// TestReadsAnExport reads an export of a database that two releases of duroxide wrote.
func TestReadsAnExport(t *testing.T) {
	s, err := snapshot.Read(os.DirFS("../../duroxide-export/testdata"), "orders.jsonl", engine.ShippedBuilds())
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	var got []string
	for _, in := range s.Instances() {
		got = append(got, fmt.Sprintf("%s %s", in.ID, in.Orchestration))
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
poller-1 Poller
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
)

// TestProblems checks that an error names the file, line and field, and does not affect anything else: instance a is
// always read.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{`[1]`, `x.jsonl:3: expected a JSON object, found a array`},
		{`{"table":`, `x.jsonl:3: expected a JSON object: unexpected end of JSON input`},
		{`{"table":"history","instance_id":7}`, `x.jsonl:3: field "instance_id": expected a string, found a number`},
		{`{"table":"executions","instance_id":"b","execution_id":"1"}`, `x.jsonl:3: field "execution_id": expected a number, found a string`},
		{`{"table":"shelves","instance_id":"b"}`, `x.jsonl:3: field "table": "shelves": expected one of store, instances, executions, history, orchestrator_queue, worker_queue`},
		{`{"table":"store"}`, `x.jsonl:3: field "taken_at_ms": missing: expected when the export was taken, in milliseconds since 1970`},
		{`{"table":"instances"}`, `x.jsonl:3: field "instance_id": missing: expected the instance that this row of instances belongs to`},
		{`{"table":"instances","instance_id":"b"}`, `x.jsonl:3: field "orchestration_name": missing: expected what b runs`},
		{`{"table":"instances","instance_id":"b","orchestration_name":"Order"}`, `x.jsonl:3: instance b has no execution and no history here: it is left out`},
		{`{"table":"executions","instance_id":"b"}`, `x.jsonl:3: field "execution_id": missing: expected the number of the execution, from 1`},
		{`{"table":"executions","instance_id":"b","execution_id":1,"status":"Sleeping"}`, `x.jsonl:3: field "status": "Sleeping": expected Running, Completed, Failed or ContinuedAsNew`},
		{`{"table":"executions","instance_id":"b","execution_id":1,"pinned_version":"one"}`, `x.jsonl:3: field "pinned_version": version "one"`},
		{`{"table":"executions","instance_id":"b","execution_id":1}`, `x.jsonl:3: execution 1 of b has no history in this export: it is left out`},
		{`{"table":"history","instance_id":"b","execution_id":1}`, `x.jsonl:3: field "event_data": missing: expected the event`},
		{`{"table":"history","event_data":{"event_id":1}}`, `x.jsonl:3: field "instance_id": missing: expected the instance that the event belongs to`},
		{`{"table":"history","instance_id":"a","execution_id":1,"event_id":3,"event_data":"{"}`, `x.jsonl:3: field "event_data": event 3 of a is no event: unexpected end of JSON input; it is kept, and no node will read it`},
		{scheduled, `x.jsonl:3: field "event_id": event 2 of execution 1 of a stands at x.jsonl:2, too: the second is left out`},
		{strings.ReplaceAll(scheduled, `"a"`, `"b"`), `x.jsonl:3: field "event_id": execution 1 of b begins with event 2: the events before it are missing`},
		{`{"table":"orchestrator_queue"}`, `x.jsonl:3: field "work_item": missing: expected the message`},
		{`{"Greeting":{"instance":"a"}}`, `x.jsonl:3: field "work_item": codec any: work item: unknown kind "Greeting"`},
		{`{"ExternalRaised":{"instance":"b","name":"go","data":""}}`, `x.jsonl:3: field "work_item": a ExternalRaised for b, of which this export has nothing: it is left out`},
	} {
		fsys := fstest.MapFS{"x.jsonl": {Data: []byte(started + "\n" + scheduled + "\n" + c.lines + "\n")}}
		s, err := snapshot.Read(fsys, "x.jsonl", engine.ShippedBuilds())
		if err != nil {
			t.Fatal(err)
		}
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

// TestDirectory checks that a directory is read file by file, and that a line may consist of just an event or a
// message.
func TestDirectory(t *testing.T) {
	fsys := fstest.MapFS{
		"d/1.jsonl":  {Data: []byte("\ufeff" + started + "\r\n\r\n" + scheduled + "\r\n")},
		"d/2.jsonl":  {Data: []byte(`{"ActivityExecute":{"instance":"a","execution_id":1,"id":2,"name":"Reserve","input":"x"}}`)},
		"d/note.txt": {Data: []byte("nothing")},
	}
	s, err := snapshot.Read(fsys, "d", engine.ShippedBuilds())
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	if in := s.Store.Instance("a"); in == nil || in.Orchestration != "Order" || len(in.Executions[0].Events) != 2 || len(s.Store.Messages) != 1 {
		t.Errorf("got %+v", s.Store)
	}
	if _, err := snapshot.Read(fstest.MapFS{"e/x": {}}, "e", nil); err == nil || !strings.Contains(err.Error(), "no file there ends in .jsonl") {
		t.Errorf("an empty directory: %v", err)
	}
}
