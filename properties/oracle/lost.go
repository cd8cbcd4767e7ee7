package oracle

import (
	"fmt"
	"reflect"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// lost returns the possible states after a call whose answer was lost: either the call had no effect, or it had the
// effect of any of its possible answers. No caller knows a token from a lost answer.
func (s *State) lost(j *judge) []*State {
	states := []*State{s}
	rule, answers := rules[reflect.TypeOf(j.call)], []call.Answer{{}}
	if rule.lost != nil {
		answers = rule.lost(s, j)
	}
	for i := range answers {
		again := *j
		again.answer, again.anything, again.next, again.allowed, again.objections = &answer{Answer: &answers[i]}, rule.counts, nil, nil, nil
		states = addStates(states, s.judged(&again))
	}
	return states
}

// lostDeliveries returns what a fetch may have returned, and lostActivities what a fetch of an activity may have.
func (s *State) lostDeliveries(j *judge) []call.Answer {
	answers := []call.Answer{{}}
	for _, c := range s.candidates(j, j.call.(call.FetchOrchestrationItem).Filter) {
		for _, batch := range c.batches {
			if d, ok := s.delivery(j, c, batch); ok {
				answers = append(answers, call.Answer{Orchestration: d.answer(s.unknownToken())})
			}
		}
	}
	return answers
}

func (s *State) lostActivities(*judge) (answers []call.Answer) {
	for _, w := range s.work {
		answers = append(answers, call.Answer{Work: &engine.FetchedWork{Item: w.item, LockToken: s.unknownToken(), AttemptCount: w.count + 1}})
	}
	return answers
}

// lostCounts returns how many sessions a call may have counted.
func (s *State) lostCounts(*judge) (answers []call.Answer) {
	for n := range len(s.sessions) + 1 {
		answers = append(answers, call.Answer{Count: n})
	}
	return answers
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
