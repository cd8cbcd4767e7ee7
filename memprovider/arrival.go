package memprovider

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// Arrival is the state that a call saw when it arrived, for calls that wait at the store before they take effect while
// other calls proceed. The contract's rules ignore it and use the state at the time the call takes effect. A store that
// makes decisions based on it is not atomic.
type Arrival struct {
	ms        int64
	token     string
	holding   Holding
	candidate *row            // the oldest message of the instance that the fetch would take
	running   map[string]bool // instances named by a deletion; lookups only
}

// Arrive captures what a call sees on arrival. Orchestration fetches use filter, calls on a lock use token, and
// deletions use roots; the other arguments are ignored. Arrive changes nothing and is not a provider call.
func (s *Store) Arrive(kind observe.CallKind, token string, filter *engine.CapabilityFilter, roots ...string) *Arrival {
	a := &Arrival{ms: s.now, token: token}
	switch {
	case kind == observe.CallFetchOrchestrationItem:
		if in := s.index.pick(filter, s.own); in != nil {
			a.candidate = in.visible[0]
		}
	case token != "" && token[0] == orchestratorToken:
		_, a.holding, _ = s.holder("", token)
	case token != "":
		_, a.holding, _ = s.workHolder("", token)
	}
	for _, root := range roots {
		for _, name := range s.tree(root) {
			if a.running == nil {
				a.running = make(map[string]bool)
			}
			in := s.known(name)
			a.running[name] = in != nil && in.running()
		}
	}
	return a
}

// Resume sets the arrival of the next call.
func (s *Store) Resume(a *Arrival) { s.arrival = a }

// lockFrom returns the time at which the current call's lock begins.
func (s *Store) lockFrom() int64 {
	if s.arrival == nil {
		return s.now
	}
	return s.rules.LockFrom(s.arrival.ms, s.now)
}

// sees returns the token state that the current call bases its decision on.
func (s *Store) sees(rule func(arrived, now Holding) Holding, token string, now Holding) Holding {
	if s.arrival == nil || s.arrival.token != token {
		return now
	}
	return rule(s.arrival.holding, now)
}

// claimLost reports whether the fetch gives up because the instance it chose on arrival has since been taken.
func (s *Store) claimLost() bool {
	if s.arrival == nil || s.rules.RetriesClaim || s.arrival.candidate == nil {
		return false
	}
	r := s.arrival.candidate
	return s.rows[r.no-1] == nil || r.in.lock.live(s.now)
}

// seesRunning reports whether a deletion treats the instance as running.
func (s *Store) seesRunning(in *instance) bool {
	if s.arrival == nil || s.arrival.running == nil {
		return in.running()
	}
	return s.rules.DeleteSees(s.arrival.running[in.name], in.running())
}

// running reports whether the instance's current execution is running.
func (in *instance) running() bool {
	ex := in.currentRow()
	return in.meta.created && ex != nil && ex.state.status == engine.StatusRunning
}
