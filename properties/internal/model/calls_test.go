package model_test

import (
	"fmt"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// TestRepinned checks that an execution is pinned again only if somebody other than a node pins it after it has begun.
func TestRepinned(t *testing.T) {
	for _, test := range []struct {
		name   string
		node   uint32
		call   uint64
		events bool
		want   bool
	}{
		{"a client, after it has begun", 0, 1, true, true},
		{"a client, before it has begun", 0, 1, false, false},
		{"a node", 1, 1, true, false},
		{"before the run", 0, 0, true, false},
	} {
		s := newStore()
		s.create("1.5.0")
		if test.events {
			s.event(1, eventdata.KindOrchestrationStarted)
		}
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: observe.CallAckOrchestrationItem, Caller: observe.Caller{Node: test.node}})
		s.Observe(&observe.Observation{Kind: observe.PinSet, Call: test.call, Instance: 1, Execution: 1, Pin: pinOf("2.0.0")})
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 2, Caller: observe.Caller{Node: 1}})
		s.Observe(&observe.Observation{Kind: observe.PinSet, Call: 2, Instance: 1, Execution: 1, Pin: pinOf("3.0.0")})
		if got := s.Instances[1].Execution(1).Repinned; got != test.want {
			t.Errorf("%s: pinned again %t, want %t", test.name, got, test.want)
		}
	}
}

// TestUndone checks that a call which takes anything back is known as one that has, from then on.
func TestUndone(t *testing.T) {
	o := func(kind observe.Kind) observe.Observation {
		return observe.Observation{Kind: kind, Call: 1, Instance: 1, Execution: 1, EventID: 9, Message: 1, Undo: true, Name: "k", Bytes: []byte("{}")}
	}
	of := func(o observe.Observation, message observe.MessageNo, reason observe.RemoveReason) observe.Observation {
		o.Message, o.Reason = message, reason
		return o
	}
	for _, undo := range []observe.Observation{
		of(o(observe.RowRemoved), 1, observe.RemovedUndone), o(observe.RowRestored), of(o(observe.LockTaken), 0, 0), o(observe.LockReleased),
		o(observe.InstanceCreated), o(observe.InstanceRemoved), o(observe.PointerSet), o(observe.ExecutionCreated), o(observe.StatusSet),
		o(observe.EventAppended), o(observe.EventRemoved), o(observe.CustomStatusSet), o(observe.KVSet), o(observe.SessionSet),
	} {
		s := newStore()
		s.insert(raised, 90)
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: observe.CallAckOrchestrationItem})
		done := undo
		if done.Undo = false; done.Reason == observe.RemovedUndone {
			done.Reason = observe.RemovedAcked
		}
		tell := func(o observe.Observation, want bool) {
			t.Helper()
			if s.Observe(&o); s.Current.Undone != want && (o.Kind != observe.RowRestored || o.Undo) {
				t.Errorf("observation %d, undone %t: the call has taken something back: %t, want %t", o.Kind, o.Undo, s.Current.Undone, want)
			}
		}
		tell(done, false) // a row is restored only if its removal is taken back
		tell(undo, true)
		tell(done, true)
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 2, CallKind: observe.CallAckOrchestrationItem})
		if s.Current.Undone {
			t.Errorf("observation %d: the next call has taken something back", undo.Kind)
		}
	}
}

// TestCalls checks that a call is known by its number until the next one begins, and its caller by its incarnation.
func TestCalls(t *testing.T) {
	s := newStore()
	if s.Call(0) != nil {
		t.Error("no call has the number 0")
	}
	s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 5, CallKind: observe.CallRead})
	s.Observe(&observe.Observation{Kind: observe.CallEnd, Call: 5, CallKind: observe.CallRead, Outcome: observe.OutcomeOK})
	if c := s.Call(5); c == nil || s.Call(4) != nil || s.Call(0) != nil {
		t.Errorf("call 5 is %v, call 4 %v, call 0 %v", c, s.Call(4), s.Call(0))
	}
	s.Nodes = []model.Node{{Incarnations: []model.Incarnation{{}, {Build: s.Builds[0]}}}, {}}
	for _, test := range []struct {
		node, incarnation uint32
		want              bool
	}{{0, 2, false}, {1, 0, false}, {1, 1, false}, {1, 2, true}, {1, 3, false}, {2, 1, false}, {3, 2, false}} {
		if got := s.Incarnation(observe.Caller{Node: test.node, Incarnation: test.incarnation}); (got != nil) != test.want {
			t.Errorf("incarnation %d of node %d: %v, want one: %t", test.incarnation, test.node, got, test.want)
		}
	}
}

// TestBefore checks that what a call has touched keeps its old state for this call, and for no other.
func TestBefore(t *testing.T) {
	s := newStore()
	r := s.insert(raised, 90)
	s.create("1.5.0")
	in, ex := s.Instances[1], s.Instances[1].Execution(1)
	texts := func(call uint64) string {
		return fmt.Sprintf("%d %s %d", in.Before(call).CurrentID, ex.Before(call).Status, r.Before(call).VisibleMs)
	}
	if got, want := texts(0), "1 Running 90"; got != want {
		t.Errorf("before any call: %s, want %s", got, want)
	}
	s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: observe.CallAckOrchestrationItem})
	s.Observe(&observe.Observation{Kind: observe.PointerSet, Call: 1, Instance: 1, Execution: 2})
	s.Observe(&observe.Observation{Kind: observe.StatusSet, Call: 1, Instance: 1, Execution: 1, Status: engine.StatusContinuedAsNew})
	s.Observe(&observe.Observation{Kind: observe.RowDelayed, Call: 1, Message: 1, Instance: 1, UntilMs: 200})
	s.Observe(&observe.Observation{Kind: observe.RowDelayed, Call: 1, Message: 1, Instance: 1, UntilMs: 300})
	for call, want := range map[uint64]string{0: "2 ContinuedAsNew 300", 1: "1 Running 90", 2: "2 ContinuedAsNew 300"} {
		if got := texts(call); got != want {
			t.Errorf("before call %d: %s, want %s", call, got, want)
		}
	}
}

// TestHeldBy checks which instance a call's token had locked when the call began.
func TestHeldBy(t *testing.T) {
	for _, test := range []struct {
		name, token string
		story       func(s *store)
		want        bool
	}{
		{"released by the call", "t", func(s *store) {
			s.Observe(&observe.Observation{Kind: observe.LockReleased, Call: 1, Instance: 1, Token: "t"})
		}, true},
		{"not touched", "t", func(*store) {}, false},
		{"another token", "u", func(s *store) {
			s.Observe(&observe.Observation{Kind: observe.LockReleased, Call: 1, Instance: 1, Token: "t"})
		}, false},
		{"no token, and no lock", "", func(s *store) {
			s.Observe(&observe.Observation{Kind: observe.PointerSet, Call: 1, Instance: 2, Execution: 1})
		}, false},
	} {
		s := newStore()
		s.lock(0, 500)
		request := &observe.CallRequest{Ack: &engine.OrchestrationAck{LockToken: test.token}}
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: observe.CallAckOrchestrationItem, Request: request})
		test.story(s)
		if got := model.HeldBy(&s.Current); (got == s.Instances[1]) != test.want || got != nil && !test.want {
			t.Errorf("%s: %v, want the instance: %t", test.name, got, test.want)
		}
	}
}

// TestDelivered checks what is known of a delivery when its fetch has ended.
func TestDelivered(t *testing.T) {
	for _, test := range []struct {
		name    string
		kind    observe.CallKind
		outcome observe.Outcome
		ended   uint64 // the call that ends
		want    string // the batch, its token, and the fetch that delivered message 2
	}{
		{"a turn", observe.CallFetchOrchestrationItem, observe.OutcomeOK, 7, "[2] tok 7"},
		{"an activity", observe.CallFetchWorkItem, observe.OutcomeOK, 7, "[]  7"},
		{"nothing", observe.CallFetchOrchestrationItem, observe.OutcomeNothing, 7, "[]  0"},
		{"an error", observe.CallFetchOrchestrationItem, observe.OutcomeRetryable, 7, "[]  0"},
		{"another call", observe.CallFetchOrchestrationItem, observe.OutcomeOK, 6, "[]  0"},
		{"a read", observe.CallRead, observe.OutcomeOK, 7, "[]  0"},
	} {
		s := newStore()
		s.insert(raised, 90)
		r := s.insert(raised, 90)
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 7, CallKind: test.kind})
		s.Observe(&observe.Observation{
			Kind: observe.CallEnd, Call: test.ended, CallKind: test.kind, Outcome: test.outcome, Instance: 1, Messages: []observe.MessageNo{2}, Token: "tok", NewCount: 3,
		})
		in, c := s.Instances[1], s.Call(7)
		if got := fmt.Sprintf("%d %s %d", in.Batch, in.BatchToken, r.Delivered); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		want := fmt.Sprintf("%d 1 [2] tok 3", test.outcome)
		if test.ended != 7 {
			want = "0 0 []  0"
		}
		if got := fmt.Sprintf("%d %d %d %s %d", c.Outcome, c.Instance, c.Messages, c.Token, c.Told); got != want {
			t.Errorf("%s: the call has %s, want %s", test.name, got, want)
		}
	}
}
