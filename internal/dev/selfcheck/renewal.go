package selfcheck

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// renews judges a renewal. It must name a lock that is held, ask for the timeout with which the lock was taken, and
// come when it is due.
func (k *nodes) renews(n *nodeState, s *slot, r *cluster.Record) {
	h := &s.held
	n.tally.Renewals++
	token, extend := "", time.Duration(0)
	switch q := r.Request.(type) {
	case call.RenewOrchestrationItemLock:
		token, extend = q.LockToken, q.ExtendFor
	case call.RenewWorkItemLock:
		token, extend = q.LockToken, q.ExtendFor
	}
	if token != h.token || extend != h.timeout || h.renewEvery == 0 {
		k.wrong(n, h.instance, "renews token %s for %v: expected token %s, held, with %v%s", token, extend, h.token, h.timeout, k.lockOptions(n, s))
		return
	}
	after := h.renewEvery
	if h.again {
		after = renewalRetry(h.timeout)
	}
	if n.quiet(h.since) && off(r.At.Sub(h.since), max(after, time.Millisecond)) {
		k.wrong(n, h.instance, "renews token %s after %v: expected %v%s", token, r.At.Sub(h.since), after, k.lockOptions(n, s))
	}
	if age := r.AtMs - h.lockedMs; !n.wrongClock && !k.callersClock && age >= h.timeout.Milliseconds() {
		k.wrong(n, h.instance, "renews token %s %d ms after it was locked for %v: expected no renewal, since the lock has expired", token, age, h.timeout)
	}
	h.renewal, h.renewalSent = r.Call, r.At
}

// renewed processes the answer to a renewal. If the renewal succeeded, the next interval starts at the time at which it
// was sent.
func (k *nodes) renewed(n *nodeState, s *slot, r *cluster.Record) {
	h := &s.held
	h.renewal = 0
	h.again = r.Err != nil
	if !h.again {
		h.since, h.locked, h.lockedMs = h.renewalSent, r.At, r.AtMs
		if r.At.Sub(h.renewalSent) >= h.renewEvery { // the next renewal is due at once
			h.since = r.At - sim.Time(h.renewEvery/time.Microsecond)
		}
		return
	}
	n.tally.RenewalFailures++
	h.since = r.At
	if r.Outcome != observe.OutcomeRetryable {
		if h.renewEvery, h.mustBeLost = 0, h.running; h.running {
			k.owes(n, h, machine.DecideWorkLost, r.Err.Error())
		}
	}
}

// sessionCalls tracks the calls with which a node maintains its sessions: those in flight, and when the next ones are
// due.
type sessionCalls struct {
	renewal, cleanup     uint64
	renewSent, cleanSent sim.Time
	renewNext, cleanNext next
}

// keepsSessions requires a node to renew its sessions, and to clean up, from now on.
func (k *nodes) keepsSessions(n *nodeState, at sim.Time) {
	c, o := &n.sessions, &k.options(n).Options
	if c.renewNext.known || c.cleanNext.known || c.renewal != 0 || c.cleanup != 0 {
		return
	}
	c.renewNext = next{kind: observe.CallRenewSessionLock, since: at, after: renewedAfter(o.SessionLockTimeout, o.SessionLockRenewalBuffer), by: bySessionLock, known: true}
	c.cleanNext = next{kind: observe.CallCleanupOrphanedSessions, since: at, after: o.SessionCleanupInterval, by: byCleanup, known: true}
}

// inTime judges whether a periodic call comes when it is due.
func (k *nodes) inTime(n *nodeState, x *next, r *cluster.Record) {
	if !x.known || n.quiet(x.since) && off(r.At.Sub(x.since), x.after) {
		k.wrong(n, "", "calls %s after %v: expected %v%s, due: %t", r.CallKind, r.At.Sub(x.since), x.after, k.optionBehind(n, x.by), x.known)
	}
	x.known = false
}

// askedOfSessions judges the calls with which a node maintains its sessions.
func (k *nodes) askedOfSessions(n *nodeState, r *cluster.Record) {
	o := &k.options(n).Options
	switch q := r.Request.(type) {
	case call.RenewSessionLock:
		n.tally.SessionRenewals++
		k.inTime(n, &n.sessions.renewNext, r)
		k.judgeOwners(n, q.Owners)
		n.sessions.renewal, n.sessions.renewSent = r.Call, r.At
		if q.ExtendFor != o.SessionLockTimeout || q.IdleTimeout != o.SessionIdleTimeout || len(q.Owners) == 0 {
			k.wrong(n, "", "renews sessions of %v for %v, idle %v: expected %v (session_lock_timeout), %v (session_idle_timeout)", q.Owners, q.ExtendFor, q.IdleTimeout, o.SessionLockTimeout, o.SessionIdleTimeout)
		}
	case call.CleanupOrphanedSessions:
		k.inTime(n, &n.sessions.cleanNext, r)
		n.sessions.cleanup, n.sessions.cleanSent = r.Call, r.At
		if q.IdleTimeout != o.SessionIdleTimeout {
			k.wrong(n, "", "cleans up sessions that were idle for %v: expected %v (session_idle_timeout)", q.IdleTimeout, o.SessionIdleTimeout)
		}
	}
}

// answeredSessions processes the answers to the calls with which a node maintains its sessions.
func (k *nodes) answeredSessions(n *nodeState, r *cluster.Record) {
	o := &k.options(n).Options
	switch r.Call {
	case n.sessions.renewal:
		k.patient(n, r, n.sessions.renewSent)
		n.sessions.renewal = 0
		n.sessions.renewNext = next{kind: observe.CallRenewSessionLock, since: r.At, after: renewedAfter(o.SessionLockTimeout, o.SessionLockRenewalBuffer), by: bySessionLock, known: true}
	case n.sessions.cleanup:
		k.patient(n, r, n.sessions.cleanSent)
		n.sessions.cleanup = 0
		n.sessions.cleanNext = next{kind: observe.CallCleanupOrphanedSessions, since: r.At, after: o.SessionCleanupInterval, by: byCleanup, known: true}
		n.tally.SessionsCleaned += uint64(max(r.Count, 0))
	default:
		return
	}
	if r.Err != nil {
		n.tally.SessionErrors++
		n.warn("", "session maintenance failed", field("error", r.Err.Error()))
		k.touch(n)
	}
}

// polls judges how a fetch waits if it finds nothing. Either it waits and is retried at the polling interval, which for
// a sweeper is the pause between passes, or it is answered at once, so that the slot can do something else.
func (k *nodes) polls(n *nodeState, s *slot, r *cluster.Record, once bool) {
	every, by := k.options(n).Options.DispatcherMinPollInterval, " (dispatcher_min_poll_interval)"
	if s.sweeps {
		every, by = k.patience.Every, " (the plan's patience)"
		if once {
			every, by = 0, ""
		}
	}
	if r.Once != once || r.Cadence != every {
		k.wrong(n, "", "fetches, to be tried again every %v, at once: %t: expected every %v%s, at once: %t", r.Cadence, r.Once, every, by, once)
	}
}

// fetchesTurns judges the arguments of an orchestration slot's fetch.
func (k *nodes) fetchesTurns(n *nodeState, s *slot, q *call.FetchOrchestrationItem) {
	info := k.options(n)
	want := info.Filter
	if s.sweeps || k.stalls {
		want = nil
	}
	if q.LockTimeout != info.Options.OrchestratorLockTimeout || q.PollTimeout != info.Options.DispatcherLongPollTimeout || q.Filter != want && q.Filter.String() != want.String() {
		k.wrong(n, "", "fetches with lock %v, poll %v, filter %s: expected %v (orchestrator_lock_timeout), %v (dispatcher_long_poll_timeout), %s", q.LockTimeout, q.PollTimeout, q.Filter,
			info.Options.OrchestratorLockTimeout, info.Options.DispatcherLongPollTimeout, want)
	}
	s.held = held{}
}

// fetchesWork judges the arguments of a worker slot's fetch. The fetch must ask for sessions as long as the node may
// serve one more.
func (k *nodes) fetchesWork(n *nodeState, s *slot, q *call.FetchWorkItem) {
	o := &k.options(n).Options
	s.held = held{}
	full := n.sessionsHeld() >= o.MaxSessionsPerRuntime
	poll := o.DispatcherLongPollTimeout
	if full {
		poll = 0 // a long poll would not notice when a session becomes free
	}
	if q.LockTimeout != o.WorkerLockTimeout || q.PollTimeout != poll || (q.Session == nil) != full {
		k.wrong(n, "", "fetches work with lock %v, poll %v, sessions: %t: expected %v (worker_lock_timeout), %v (dispatcher_long_poll_timeout, or 0s once it serves max_sessions_per_runtime %d), %t",
			q.LockTimeout, q.PollTimeout, q.Session != nil, o.WorkerLockTimeout, poll, o.MaxSessionsPerRuntime, !full)
		return
	}
	if q.Tags.Mode != o.WorkerTagFilter.Mode || !slices.Equal(q.Tags.Tags, o.WorkerTagFilter.Tags) {
		k.wrong(n, "", "fetches work with the tag filter %v: expected %v (worker_tag_filter)", q.Tags, o.WorkerTagFilter)
	}
	if q.Session != nil {
		k.judgeOwner(n, s, q.Session.OwnerID)
	}
	if q.Session != nil && (q.Session.LockTimeout != o.SessionLockTimeout || q.Session.OwnerID == "") {
		k.wrong(n, "", "fetches work with session owner %q, lock %v: expected an owner and %v (session_lock_timeout)", q.Session.OwnerID, q.Session.LockTimeout, o.SessionLockTimeout)
	}
}

// incarnation identifies one incarnation of a node.
type incarnation struct{ node, number uint32 }

// judgeOwner checks that a worker slot always fetches under the same name. This must be the configured name, or one
// that no other slot has ever used in any incarnation.
func (k *nodes) judgeOwner(n *nodeState, s *slot, owner string) {
	if s.owner == owner {
		return
	}
	configured := k.options(n).Options.WorkerNodeID
	wrong := s.owner != "" || configured != "" && owner != configured
	for i := range n.slots {
		wrong = wrong || configured == "" && n.slots[i].owner == owner
	}
	me := incarnation{n.number, n.incarnation}
	if other, taken := k.owners[owner]; taken && configured == "" {
		wrong = wrong || other != me
	}
	if k.owners == nil {
		k.owners = map[string]incarnation{}
	}
	k.owners[owner] = me
	if s.owner = owner; wrong {
		k.wrong(n, "", "fetches for session owner %q with its worker %d: expected a name of its own for each worker, or the node's %q (worker_node_id)", owner, s.id.Index, configured)
	}
}

// judgeOwners checks that sessions are renewed for every owner name that is used for fetching.
func (k *nodes) judgeOwners(n *nodeState, owners []string) {
	for i := range n.slots {
		if owner := n.slots[i].owner; owner != "" && !slices.Contains(owners, owner) {
			k.wrong(n, "", "renews sessions of %v: expected these to include %q", owners, owner)
			return
		}
	}
}
