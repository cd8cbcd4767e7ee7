package oracle

import (
	"reflect"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// rule says what the contract allows as the answer to a call of one method.
type rule struct {
	of    reflect.Type
	apply func(s *State, j *judge)
	// lost returns the answers of which one may have been lost; nil stands for one without a result.
	lost func(s *State, j *judge) []call.Answer
	// counts says that the result only counts what was done, so that a lost one may have been any.
	counts bool
}

func on[C call.Call](apply func(s *State, j *judge, r C)) rule {
	return rule{of: reflect.TypeFor[C](), apply: func(s *State, j *judge) { apply(s, j, j.call.(C)) }}
}

func (r rule) losing(answers func(s *State, j *judge) []call.Answer) rule {
	r.lost = answers
	return r
}

func (r rule) counting() rule {
	r.counts = true
	return r
}

// rules has the rule for each call. It is only used for lookups. Each file lists those that it has.
var rules = byCall(ackRules, lockRules, workRules, fetchRules, readRules, adminRules, deleteRules, damageRules)

var damageRules = []rule{on((*State).plant), on((*State).corruptEvent), on((*State).corruptMessage)}

func byCall(lists ...[]rule) map[reflect.Type]rule {
	all := map[reflect.Type]rule{}
	for _, r := range slices.Concat(lists...) {
		all[r.of] = r
	}
	return all
}

// judged applies the specification to the call, and returns the states that are consistent with the answer.
func (s *State) judged(j *judge) []*State {
	a := j.answer
	if a.Lost {
		return s.lost(j)
	}
	if retryable := a.Err != nil && a.Err.Retryable; retryable || j.failing {
		s.retryable(j, retryable)
	}
	rules[reflect.TypeOf(j.call)].apply(s, j)
	return j.next
}

// retryable judges a retryable error, given or, if the storage was made to fail, possible. Nothing has changed (I8, I11),
// except that a bulk call may have done part of its work (F22), which deleteBulk and pruneBulk handle.
func (s *State) retryable(j *judge, given bool) {
	same := func() *State { return s }
	switch {
	case j.failing:
		j.allow(by("8", "I8 I11"), given, same, "a retryable error, without effect: the storage was made to fail")
		return
	case j.options.StorageErrors:
		j.allow(by("8", "I8 I11"), true, same, "a retryable error, without effect")
		return
	}
	j.allow(clause{"9", "I8 I11", f5Contention}, true, same, "a retryable error under contention, without effect")
	j.object(by("8", ""), "a retryable error, although the storage works and no other caller competes")
}

// plant applies a call that puts data directly into the store.
func (s *State) plant(j *judge, r call.Plant) {
	j.next = append(j.next, s.with(func(n *State) {
		in := n.edit(r.Instance)
		switch {
		case r.Orchestration != "":
			in.row, in.name, in.version, in.current = true, r.Orchestration, r.Version, r.ExecutionID
			return
		case r.Parent != nil:
			in.parent = *r.Parent
			return
		case r.CustomStatus != nil:
			in.custom, in.customVersion = r.CustomStatus, 1
			return
		case r.Key != nil:
			in.store = put(in.store, entry{key: r.Key.Key, value: r.Key.Value, updatedMs: r.Key.LastUpdatedAtMs})
			return
		}
		e := in.addExecution(r.ExecutionID)
		if r.Pin != nil {
			pin := *r.Pin
			e.pin = &pin
		}
		if r.Status != "" {
			e.status, e.output, e.stamped, e.completed = r.Status, r.Output, truth{may: true}, j.at
		}
		event, corrupt := engine.Event{EventID: r.EventID}, true
		if r.Event != nil {
			event = *r.Event
			_, err := call.EventText(event)
			corrupt = err != nil
		}
		if event.EventID != 0 {
			in.add(r.ExecutionID, event)
			h := in.event(r.ExecutionID, event.EventID)
			h.corrupt, h.bytes = corrupt, r.Bytes
		}
	}))
}

// corruptEvent records that a test damaged an event, which can no longer be decoded.
func (s *State) corruptEvent(j *judge, r call.CorruptEvent) {
	j.next = append(j.next, s.with(func(n *State) {
		if h := n.edit(r.Instance).event(r.ExecutionID, r.EventID); h != nil {
			h.corrupt = true
		}
	}))
}

// corruptMessage records that a test damaged the newest row that holds the item.
func (s *State) corruptMessage(j *judge, r call.CorruptMessage) {
	j.next = append(j.next, s.with(func(n *State) {
		if !corruptNewest(n.queue, r.Item) {
			corruptNewest(n.work, r.Item)
		}
	}))
}

func corruptNewest[R any, P rowOf[R]](rows []R, item engine.WorkItem) bool {
	for i := len(rows) - 1; i >= 0; i-- {
		if q := P(&rows[i]).row(); !q.corrupt && sameItem(q.item, item) {
			q.corrupt = true
			return true
		}
	}
	return false
}

// with returns a copy of the state with a change applied.
func (s *State) with(change func(n *State)) *State {
	n := s.clone()
	change(n)
	return n
}
