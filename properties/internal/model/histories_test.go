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

// TestFailure checks that an event that nobody can read does not hide why an execution failed.
func TestFailure(t *testing.T) {
	s := newStore()
	s.create("1.5.0")
	failed := eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "a"}}}
	written := sample.Must(s.Builds[0].Codec.AppendEvent(nil, engine.Event{EventID: 1, InstanceID: "x", ExecutionID: 1, DuroxideVersion: "1.5.0", Data: failed}))(t)
	for i, bytes := range [][]byte{written, []byte(`{"type":"OrchestrationFailed"}`)} {
		s.Observe(&observe.Observation{Kind: observe.EventAppended, Instance: 1, Execution: 1, EventID: uint64(i + 1), Bytes: bytes})
	}
	if d, ok := s.Failure(s.Instances[1].Execution(1)); !ok || d.Application.Message != "a" {
		t.Errorf("%v, %+v", ok, d)
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
