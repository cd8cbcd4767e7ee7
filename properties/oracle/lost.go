package oracle

import "fmt"

// lost are the states after a call whose answer never came: it had no effect, or that of any answer that it may have had.
// What it may have handed out has a token that nobody knows.
func (s *State) lost(j *judge) []*State {
	states := []*State{s}
	try := func(a Answer) {
		again := *j
		again.answer, again.next, again.allowed, again.objections = &a, nil, nil, nil
		states = addStates(states, s.judged(&again))
	}
	switch r := j.args.(type) {
	case FetchOrchestrationItem:
		try(Answer{})
		for _, c := range s.candidates(j, r.Filter) {
			for _, batch := range c.batches {
				if d, ok := s.delivery(j, c, batch); ok {
					try(Answer{Item: d.answer(s.unknownToken())})
				}
			}
		}
	case FetchWorkItem:
		for _, w := range s.work {
			try(Answer{Work: &Work{Item: Item{w.item}, Token: s.unknownToken(), AttemptCount: w.count + 1}})
		}
	case RenewSessionLock:
		for n := range len(s.sessions) + 1 {
			try(Answer{Count: n})
		}
	case CleanupOrphanedSessions:
		for n := range len(s.sessions) + 1 {
			try(Answer{Count: n})
		}
	case DeleteInstance, DeleteInstancesAtomic, DeleteInstanceBulk, PruneExecutions, PruneExecutionsBulk:
		again := *j
		again.answer, again.anything, again.next = &Answer{}, true, nil
		states = addStates(states, s.judged(&again))
	default:
		try(Answer{})
	}
	return states
}

// unknownToken is a token that no provider gives: it stands for one that was lost.
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

// answer is the delivery as an answer.
func (d *delivery) answer(token string) *Fetched {
	f := &Fetched{
		Instance: d.instance, OrchestrationName: d.name, Version: d.version, ExecutionID: d.execution, Messages: d.messages,
		KVSnapshot: kvEntries(d.snapshot), Token: token, AttemptCount: d.count,
	}
	if d.damaged {
		f.HistoryError = "cannot be decoded"
	} else {
		f.History = eventsOf(d.history)
	}
	return f
}
