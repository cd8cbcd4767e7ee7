package memprovider

import (
	"github.com/durosim/durosim/engine"
)

// Eligibility describes what a fetch would find.
type Eligibility struct {
	// Now reports whether a fetch would find something. Instance says for which instance; for the worker queue, Message
	// says which message.
	Now      bool
	Instance InstanceNo
	Message  MessageNo
	// Drops reports whether an orchestration fetch would drop orphaned queue messages, which it may do even if it finds
	// nothing.
	Drops bool
	// AtMs is the earliest time at which Now may become true without a call, or Never. It is set only if Now is false.
	AtMs int64
}

// NextOrchestration returns what FetchOrchestrationItem would find with this filter under the store's rules. It changes
// nothing and is not a provider call.
func (s *Store) NextOrchestration(filter *engine.CapabilityFilter) Eligibility {
	return s.index.next(filter, s.own)
}

func (x *index) next(filter *engine.CapabilityFilter, rules *Rules) Eligibility {
	e := Eligibility{AtMs: x.changesAt(filter, rules)}
	in := x.pick(filter, rules)
	if in != nil {
		e.Now, e.Instance = true, in.no
	}
	if o := x.orphans.head(); o != nil && rules.Admits(filter, nil) {
		e.Drops = in == nil || o.key < int64(in.visible[0].no)
	}
	return e
}

// HasSessions reports whether the store has a session, or an activity that belongs to one. While it has neither, a
// fetch's session config makes no difference.
func (s *Store) HasSessions() bool { return len(s.sessionIDs) > 0 }

// NextWork returns what FetchWorkItem would find with this session config and tag filter under the store's rules. It
// uses only the config's owner. It changes nothing and is not a provider call.
func (s *Store) NextWork(session *engine.SessionFetchConfig, tags engine.TagFilter) Eligibility {
	t := s.taker(session)
	e := Eligibility{AtMs: s.work.changesAt(t, tags, s.rules)}
	if r := s.work.pick(t, tags, s.rules); r != nil {
		e.Now, e.Message, e.Instance = true, r.no, r.in.no
	}
	return e
}
