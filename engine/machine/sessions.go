package machine

import (
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
)

// sessionKeeper renews the sessions owned by the node's workers and cleans up orphaned sessions
// (docs/contract/runtime.md#r6.4). It normally starts with the node's first session activity, because the node owns no
// session before that. If the owner's name survives a restart, it starts with the node instead.
type sessionKeeper struct {
	begun                    bool
	renewal, cleanup         TimerID
	renewalCall, cleanupCall CallID
}

// sessionSlot is the slot named in the keeper's calls.
var sessionSlot = Slot{Kind: SlotSessions}

// sessionOwners returns the names under which the worker slots claim sessions: the configured name for all slots, or
// else a separate name for each slot.
func (r *Rules) sessionOwners(o *node.Options, runtime string) []string {
	if o.WorkerNodeID != "" {
		return []string{o.WorkerNodeID}
	}
	owners := make([]string, o.WorkerConcurrency)
	for i := range owners {
		owners[i] = r.SessionOwner(i, runtime)
	}
	return owners
}

func ownerOf(worker int, runtime string) string {
	return "work-" + strconv.Itoa(worker) + "-" + runtime
}

// sessionConfig returns the session config for a worker slot's fetch.
func (n *Node) sessionConfig(id Slot) *engine.SessionFetchConfig {
	owner := n.owners[0]
	if len(n.owners) > 1 {
		owner = n.owners[id.Index]
	}
	return &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: n.options.SessionLockTimeout}
}

// sessionsInFlight returns the number of distinct sessions whose activities the node's workers hold.
func (n *Node) sessionsInFlight() int {
	count := 0
	for i := range n.slots {
		if id := n.slots[i].session(); id != "" && !n.sessionBefore(i, id) {
			count++
		}
	}
	return count
}

func (n *Node) sessionBefore(i int, id string) bool {
	for j := range i {
		if n.slots[j].session() == id {
			return true
		}
	}
	return false
}

func (s *slot) session() string {
	if s.hold == nil || s.phase == phaseAbandoning {
		return ""
	}
	return s.hold.activity.SessionID
}

func (n *Node) keepSessions() {
	if k := &n.keeper; !k.begun && n.rules.RenewsSessions {
		k.begun = true
		n.armSessionRenewal()
		k.cleanup = n.setTimer(n.options.SessionCleanupInterval, timerSessions)
	}
}

func (n *Node) armSessionRenewal() {
	if d := n.rules.RenewalInterval(n.options.SessionLockTimeout, n.options.SessionLockRenewalBuffer); d > 0 {
		n.keeper.renewal = n.setTimer(d, timerSessions)
	}
}

// onSessionWake handles timer t if it belongs to the keeper, and returns false if it does not.
func (n *Node) onSessionWake(t TimerID) bool {
	k, o := &n.keeper, &n.options
	switch t {
	case k.renewal:
		k.renewal = 0
		if n.draining && !n.rules.RenewsWhileDraining {
			return true
		}
		n.counters.SessionRenewals++
		k.renewalCall = n.askAs(sessionSlot, call.RenewSessionLock{
			Owners: n.rules.RenewedOwners(n.owners), ExtendFor: o.SessionLockTimeout, IdleTimeout: o.SessionIdleTimeout,
		})
	case k.cleanup:
		k.cleanup = 0
		k.cleanupCall = n.askAs(sessionSlot, call.CleanupOrphanedSessions{IdleTimeout: o.SessionIdleTimeout})
	default:
		return false
	}
	return true
}

// onSessionAnswer handles the answer to one of the keeper's calls. It returns false if the call is not the keeper's. A
// failed call is only logged; the next call is made at its usual time.
func (n *Node) onSessionAnswer(in *Answer) bool {
	k := &n.keeper
	switch in.Call {
	case k.renewalCall:
		k.renewalCall = 0
		if !n.stopped {
			n.armSessionRenewal()
		}
	case k.cleanupCall:
		k.cleanupCall = 0
		n.counters.SessionsCleaned += uint64(max(in.Count, 0))
		if !n.stopped {
			k.cleanup = n.setTimer(n.options.SessionCleanupInterval, timerSessions)
		}
	default:
		return false
	}
	if in.Err != nil && !n.stopped {
		n.counters.SessionErrors++
		n.log(LevelWarn, "", "session maintenance failed", Field{"error", in.Err.Error()})
	}
	return true
}

// stopSessions cancels the keeper's timers.
func (n *Node) stopSessions() {
	n.cancelTimer(&n.keeper.renewal)
	n.cancelTimer(&n.keeper.cleanup)
}

// workerID returns a worker slot's name. The name is unique among all running slots.
func (n *Node) workerID(s *slot) string {
	if n.options.WorkerNodeID != "" {
		return "work-" + strconv.Itoa(s.id.Index) + "-" + n.options.WorkerNodeID
	}
	return n.owners[s.id.Index]
}
