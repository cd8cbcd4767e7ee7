package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/internal/model"
)

// TestLatest checks which execution a fetch delivers, and which pin and status it has.
func TestLatest(t *testing.T) {
	execution := func(s *store, id uint64, pin string, row bool) {
		s.Observe(&observe.Observation{Kind: observe.PinSet, Instance: 1, Execution: id, Pin: pinOf(pin)})
		if row {
			s.Observe(&observe.Observation{Kind: observe.ExecutionCreated, Instance: 1, Execution: id, Status: engine.StatusRunning})
		}
	}
	current := func(s *store, id uint64) {
		s.Observe(&observe.Observation{Kind: observe.InstanceCreated, Instance: 1, Execution: id, Name: "H"})
	}
	for _, test := range []struct {
		name  string
		story func(s *store)
		want  string // the execution, 0 for none, the pin and the status
	}{
		{"nothing", func(*store) {}, "0 none "},
		{"an instance row alone", func(s *store) { current(s, 2) }, "0 none "},
		{"the current execution", func(s *store) {
			execution(s, 1, "1.0.0", true)
			execution(s, 2, "2.0.0", true)
			execution(s, 3, "3.0.0", true)
			current(s, 2)
		}, "2 2.0.0 Running"},
		{"a current execution without a row", func(s *store) {
			execution(s, 1, "1.0.0", true)
			execution(s, 2, "2.0.0", false)
			current(s, 2)
		}, "2 2.0.0 "},
		{"no instance row", func(s *store) {
			execution(s, 1, "1.0.0", true)
			execution(s, 2, "2.0.0", true)
			execution(s, 3, "3.0.0", false)
		}, "2 none "},
		{"only a later execution", func(s *store) { execution(s, 4, "4.0.0", true) }, "4 none "},
		{"no row at all", func(s *store) { execution(s, 1, "1.0.0", false); execution(s, 2, "2.0.0", false) }, "1 none "},
		{"no row at all, and no first execution", func(s *store) { execution(s, 2, "2.0.0", false) }, "0 none "},
	} {
		s := newStore()
		test.story(s)
		in, id := s.Instances[1], uint64(0)
		if ex := in.Latest(); ex != nil {
			id = ex.ID
		}
		if got := fmt.Sprintf("%d %s %s", id, model.PinText(in.Pin()), in.Status()); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestKindTable checks the numbers of kinds with names of any length, and what a full table says of further kinds.
func TestKindTable(t *testing.T) {
	k := &newStore().Kinds
	for _, n := range []int{1, 62, 63, 64, 65, 200} {
		name := engine.EventKind(strings.Repeat("k", n))
		if no, ok := k.Number(name); ok {
			t.Errorf("a name of %d bytes has the number %d before it is added", n, no)
		}
		added := k.Add(name)
		if no, ok := k.Number(name); !ok || no != added || k.Add(name) != added || k.Name(no) != string(name) {
			t.Errorf("a name of %d bytes has the number %d (%t) and the name %q, want %d", n, no, ok, k.Name(no), added)
		}
	}
	last := model.KindNo(0)
	for i := range 100 {
		if no := k.Add(engine.EventKind(fmt.Sprint("more", i))); no != model.KindForeign {
			last = no
		}
	}
	if last != model.KindDamaged-1 {
		t.Errorf("the last number is %d, want %d", last, model.KindDamaged-1)
	}
	if got, want := k.Name(model.KindDamaged)+", "+k.Name(model.KindForeign), "damaged event, event of unknown kind"; got != want {
		t.Errorf("the reserved numbers are called %s, want %s", got, want)
	}
	if got := k.First(model.MaskOf(last) | model.MaskOf(model.KindForeign)); got != k.Name(last) {
		t.Errorf("the first of two kinds is %s, want %s", got, k.Name(last))
	}
}

// TestFailure checks that why an execution failed comes from the last event that says so.
func TestFailure(t *testing.T) {
	failed := func(text string) engine.EventData {
		return eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: text}}}
	}
	start, timer := eventdata.OrchestrationStarted{Name: "H"}, eventdata.TimerCreated{}
	for _, test := range []struct {
		name   string
		events []engine.EventData // nil is an event that nobody can read
		want   string
	}{
		{"nothing", nil, ""},
		{"a failure", []engine.EventData{start, failed("a")}, "a"},
		{"a failure alone", []engine.EventData{failed("a")}, "a"},
		{"two failures", []engine.EventData{start, failed("a"), failed("b")}, "b"},
		{"a failure and other events", []engine.EventData{start, failed("a"), timer}, "a"},
		{"a failure and a success", []engine.EventData{start, failed("a"), eventdata.OrchestrationCompleted{Output: "o"}}, "a"},
		{"a success", []engine.EventData{start, eventdata.OrchestrationCompleted{Output: "o"}}, ""},
		{"a failure that nobody can read", []engine.EventData{start, failed("a"), nil}, "a"},
	} {
		s := newStore()
		s.create("1.5.0")
		ex := s.Instances[1].Execution(1)
		for i, data := range test.events {
			bytes := []byte(`{"type":"OrchestrationFailed"}`)
			if data != nil {
				bytes = sample.Must(s.Builds[0].Codec.AppendEvent(nil, engine.Event{EventID: uint64(i + 1), InstanceID: "x", ExecutionID: 1, DuroxideVersion: "1.5.0", Data: data}))(t)
			}
			s.Observe(&observe.Observation{Kind: observe.EventAppended, Instance: 1, Execution: 1, EventID: uint64(i + 1), Bytes: bytes})
		}
		d, ok := s.Failure(ex)
		got := ""
		if ok {
			got = d.Application.Message
		}
		if ok != (test.want != "") || got != test.want {
			t.Errorf("%s: %q (%t), want %q", test.name, got, ok, test.want)
		}
	}
}

// TestTakenAway checks what is left when events and executions are removed, and when their removal is taken back.
func TestTakenAway(t *testing.T) {
	s := newStore()
	s.create("1.5.0")
	ex := s.Instances[1].Execution(1)
	for id, kind := range []engine.EventKind{eventdata.KindOrchestrationStarted, eventdata.KindTimerCreated, eventdata.KindOrchestrationCompleted} {
		s.event(uint64(id+1), kind)
	}
	has := func(kind engine.EventKind) bool { no, _ := s.Kinds.Number(kind); return ex.Kinds.Has(no) }
	texts := func() string {
		return fmt.Sprintf("%d events, started %t, timer %t, %d ends", len(ex.Events), has(eventdata.KindOrchestrationStarted), has(eventdata.KindTimerCreated), ex.Terminals)
	}
	if got, want := texts(), "3 events, started true, timer true, 1 ends"; got != want {
		t.Errorf("before: %s, want %s", got, want)
	}
	s.Observe(&observe.Observation{Kind: observe.EventRemoved, Instance: 1, Execution: 1, EventID: 3})
	s.Observe(&observe.Observation{Kind: observe.EventRemoved, Instance: 1, Execution: 1, EventID: 9})
	if got, want := texts(), "2 events, started true, timer true, 0 ends"; got != want {
		t.Errorf("without the end: %s, want %s", got, want)
	}
	s.Observe(&observe.Observation{Kind: observe.EventRemoved, Instance: 1, Execution: 1, EventID: 1})
	if got, want := texts(), "1 events, started false, timer true, 0 ends"; got != want {
		t.Errorf("without the first: %s, want %s", got, want)
	}
	s.Observe(&observe.Observation{Kind: observe.ExecutionRemoved, Instance: 1, Execution: 1, Undo: true})
	if ex.Created || ex.Pin == nil || ex.Deleted {
		t.Errorf("taken back: row %t, pin %v, deleted %t; want the pin alone", ex.Created, ex.Pin, ex.Deleted)
	}
	s.Observe(&observe.Observation{Kind: observe.ExecutionRemoved, Instance: 1, Execution: 1})
	if ex.Created || ex.Pin != nil || !ex.Deleted {
		t.Errorf("deleted: row %t, pin %v, deleted %t; want no pin", ex.Created, ex.Pin, ex.Deleted)
	}
}

// TestEventKind checks that the kind of a stored event is read from any JSON, and from nothing else.
func TestEventKind(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"TimerCreated"}`: "TimerCreated", `{ "type" : "TimerCreated" }`: "TimerCreated", `{"data":{},"type": "TimerCreated"}`: "TimerCreated",
		`{"type":"Unheard"}`: "event of unknown kind", `{ "type" : "Unheard" }`: "event of unknown kind", `{"kind":"TimerCreated"}`: "event of unknown kind",
		`{"type":"Open`: "event of unknown kind", `?`: "event of unknown kind", ``: "event of unknown kind",
	} {
		s := newStore()
		s.Observe(&observe.Observation{Kind: observe.EventAppended, Instance: 1, Execution: 1, EventID: 1, Bytes: []byte(text)})
		if got := s.Kinds.Name(s.Instances[1].Execution(1).Events[0].Kind); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
