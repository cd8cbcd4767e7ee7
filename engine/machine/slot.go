package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// slot is one of the node's loops. It fetches work, holds it until it is acknowledged or abandoned, and fetches again.
//
// Invariant: at most one of call, timer and job is set: the one that the current phase waits for.
type slot struct {
	id    Slot
	phase phase
	call  CallID
	timer TimerID
	job   JobID
	// fetchedMs is the time of the slot's last fetch.
	fetchedMs int64
	// errors counts consecutive retryable fetch errors.
	errors int
	// hold is the fetched work, or nil if the slot holds none.
	hold *hold
	room hold // storage for the work that hold points to; it is large, so it is filled in place
	// fetch is the worker slot's fetch request with a session config. It is read-only.
	fetch call.Call
	// performed is the outcome of the activity's code, if it has run.
	performed performed
	// sweeps marks the sweeper's slot, which runs no turns.
	sweeps bool
}

// phase is a slot's current activity.
type phase uint8

const (
	phaseIdle       phase = iota // not started, or no longer fetching
	phaseFetching                // a fetch is in flight
	phasePausing                 // between two fetches
	phaseRunning                 // a turn or an activity is running
	phaseReading                 // a system activity is reading
	phaseGrace                   // a lost activity is in its grace period
	phaseAcking                  // an ack is in flight
	phaseAckPausing              // waiting to resend an ack
	phaseAbandoning              // an abandon is in flight; its answer does not matter
	phaseStopped                 // drained
)

// next fetches again, or stops the slot if the node is draining.
func (n *Node) next(s *slot) {
	s.hold = nil
	if n.draining {
		s.phase = phaseStopped
		return
	}
	if s.sweeps {
		n.nextSweep(s)
		return
	}
	s.phase = phaseFetching
	s.fetchedMs = n.nowMs
	n.counters.Fetches++
	if s.id.Kind == SlotOrchestration {
		if n.fetch == nil {
			n.fetch = call.FetchOrchestrationItem{
				LockTimeout: n.options.OrchestratorLockTimeout, PollTimeout: n.options.DispatcherLongPollTimeout,
				Filter: n.fetchFilter(),
			}
		}
		s.call = n.askFetch(s, n.fetch)
		return
	}
	if n.sessionsInFlight() >= n.rules.SessionCap(n.options.MaxSessionsPerRuntime) {
		n.askPlainly(s)
		return
	}
	if s.fetch == nil {
		s.fetch = n.workRequest(n.sessionConfig(s.id))
	}
	s.call = n.askFetch(s, s.fetch)
}

// askPlainly fetches work that belongs to no session, because the node is at its session limit. The fetch is answered
// immediately, so that the next one can request sessions again.
func (n *Node) askPlainly(s *slot) {
	q := n.workRequest(nil)
	if n.rules.PlainFetchWaits {
		s.call = n.askFetch(s, q)
		return
	}
	q.PollTimeout = 0
	c := n.callTo(s.id, q)
	c.Cadence, c.Once = n.options.DispatcherMinPollInterval, true
	s.call = n.calls
}

// workRequest returns a worker slot's fetch request with that session config.
func (n *Node) workRequest(session *engine.SessionFetchConfig) call.FetchWorkItem {
	o := &n.options
	tags := o.WorkerTagFilter
	tags.Tags = slices.Clone(tags.Tags)
	return call.FetchWorkItem{
		LockTimeout: o.WorkerLockTimeout, PollTimeout: o.DispatcherLongPollTimeout,
		Session: session, Tags: tags,
	}
}

// onFetched handles the answer to a fetch.
func (n *Node) onFetched(s *slot, in *Answer) {
	switch {
	case in.Err != nil:
		n.onFetchFailed(s, in.Err)
	case in.Orchestration == nil && in.Work == nil:
		s.errors = 0
		n.counters.FetchedNothing++
		if s.sweeps {
			n.endPass()
			n.next(s)
			return
		}
		took := time.Duration(max(n.nowMs-s.fetchedMs, 0)) * time.Millisecond
		n.pause(s, timerPoll, n.rules.PauseAfterNothing(took, n.options.DispatcherMinPollInterval))
	case in.Orchestration != nil && s.id.Kind == SlotOrchestration:
		s.errors = 0
		n.counters.FetchedOrchestrations++
		n.onOrchestration(s, in.Orchestration)
	case in.Work != nil && s.id.Kind == SlotWorker:
		s.errors = 0
		n.counters.FetchedWork++
		n.onWork(s, in.Work)
	default:
		panic(fmt.Sprintf("node %s: fetch %d of a slot of kind %d was answered with the other kind of work", n.name, in.Call, s.id.Kind))
	}
}

func (n *Node) onFetchFailed(s *slot, err error) {
	n.counters.FetchErrors++
	retryable := engine.IsRetryable(err)
	s.errors++
	if !retryable {
		s.errors = 0
	}
	pause, again := n.rules.PauseAfterError(retryable, s.errors)
	if !again && !n.draining {
		s.phase = phaseIdle
		return
	}
	n.pause(s, timerFetchBackoff, pause)
}

// pause waits for d before the next fetch. It does not wait if d is zero or the node is draining.
func (n *Node) pause(s *slot, purpose string, d time.Duration) {
	if d <= 0 || n.draining {
		n.next(s)
		return
	}
	s.phase = phasePausing
	s.timer = n.setTimer(d, purpose)
}

// abandon abandons the slot's work and emits the note why. The answer to the call does not matter: if the call fails,
// the lock expires anyway.
func (n *Node) abandon(s *slot, why Note) {
	n.note(s, why)
	n.handBack(s, why.Decision, why.Delay)
}

// handBack abandons the slot's work without emitting a note.
func (n *Node) handBack(s *slot, d Decision, delay time.Duration) {
	n.stopRenewing(s.hold)
	ignore := (n.rules.AbandonIgnoresAttempt(d) || d == DecideIncompatible && n.routing.Stalls && n.rules.StallIgnoresAttempt) && (d != DecideWaitForStart || !n.rules.CountsWaiting(n.build))
	n.counters.countAbandon(d)
	var request call.Call = call.AbandonOrchestrationItem{LockToken: s.hold.token, Delay: delay, IgnoreAttempt: ignore}
	if s.id.Kind == SlotWorker {
		request = call.AbandonWorkItem{LockToken: s.hold.token, Delay: delay, IgnoreAttempt: ignore}
	}
	s.phase = phaseAbandoning
	s.call = n.ask(s, request)
}

// drain stops the slot. If the slot holds work, it finishes that work first.
func (n *Node) drain(s *slot) {
	switch s.phase {
	case phaseIdle:
		s.phase = phaseStopped
	case phasePausing:
		if n.rules.DrainEndsPauses {
			n.cancelTimer(&s.timer)
			s.phase = phaseStopped
		}
	case phaseFetching:
		if n.rules.DrainCancelsFetches {
			n.emit(&CancelCall{ID: s.call})
		}
	default:
		if s.hold != nil && !n.rules.RenewsWhileDraining {
			n.stopRenewing(s.hold)
		}
	}
}
