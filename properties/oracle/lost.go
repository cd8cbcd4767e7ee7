package oracle

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// lost returns the possible states after a call whose answer was lost: either the call had no effect, or it had the
// effect of any of its possible answers. No caller knows a token from a lost answer.
func (s *State) lost(j *judge) []*State {
	states := []*State{s}
	try := func(a answer) {
		again := *j
		again.answer, again.next, again.allowed, again.objections = &a, nil, nil, nil
		states = addStates(states, s.judged(&again))
	}
	switch r := j.call.(type) {
	case call.FetchOrchestrationItem:
		try(answer{Answer: &call.Answer{}})
		for _, c := range s.candidates(j, r.Filter) {
			for _, batch := range c.batches {
				if d, ok := s.delivery(j, c, batch); ok {
					try(answer{Answer: &call.Answer{Orchestration: d.answer(s.unknownToken())}})
				}
			}
		}
	case call.FetchWorkItem:
		for _, w := range s.work {
			try(answer{Answer: &call.Answer{Work: &engine.FetchedWork{Item: w.item, LockToken: s.unknownToken(), AttemptCount: w.count + 1}}})
		}
	case call.RenewSessionLock:
		for n := range len(s.sessions) + 1 {
			try(answer{Answer: &call.Answer{Count: n}})
		}
	case call.CleanupOrphanedSessions:
		for n := range len(s.sessions) + 1 {
			try(answer{Answer: &call.Answer{Count: n}})
		}
	case call.DeleteInstance, call.DeleteInstancesAtomic, call.DeleteInstanceBulk, call.PruneExecutions, call.PruneExecutionsBulk:
		again := *j
		again.answer, again.anything, again.next = &answer{Answer: &call.Answer{}}, true, nil
		states = addStates(states, s.judged(&again))
	default:
		try(answer{Answer: &call.Answer{}})
	}
	return states
}

// unknownToken returns a token that no provider hands out. It stands for a token that was lost with its answer.
func (s *State) unknownToken() string {
	n := s.last
	for _, in := range s.instances {
		n += uint64(len(in.history))
	}
	for _, m := range s.queue {
		n += uint64(m.count)
	}
	for _, w := range s.work {
		n += uint64(w.count)
	}
	return fmt.Sprintf("(lost %d)", n)
}

// answer returns the delivery as an answer.
func (d *delivery) answer(token string) *engine.FetchedOrchestration {
	item := engine.OrchestrationItem{
		Instance: d.instance, OrchestrationName: d.name, Version: d.version, ExecutionID: d.execution, Messages: d.messages,
		KVSnapshot: kvEntries(d.snapshot),
	}
	if d.damaged {
		item.HistoryError = "cannot be decoded"
	} else {
		item.History = eventsOf(d.history)
	}
	return &engine.FetchedOrchestration{Item: item, LockToken: token, AttemptCount: d.count}
}
