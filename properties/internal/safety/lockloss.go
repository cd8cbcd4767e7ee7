package safety

import (
	"math"
	"slices"
	"time"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// lockLossChecker checks rule S19: every holder keeps the lock on its work. It judges when another caller takes an
// expired lock. The previous holder was dead, frozen or cut off; otherwise it should have renewed the lock. It judges a
// session when the session's owner still works in it.
//
// A renewal or an ack that fails retryably is soon sent again. So trouble with these calls excuses a holder only if
// there was no time for another try. Trouble with a fetch or an abandon always excuses the holder, because afterwards
// either the node does not know what it holds, or the store does not know that the work is free.
type lockLossChecker struct {
	check.Base
	nodes    []keptNode // indexed by node number - 1
	outageMs int64      // until when the store may refuse every call
	sessions []keptSession
}

type keptNode struct {
	up, paused  bool
	incarnation uint32
	cutOffMs    int64 // when the trouble that excuses losing any lock ends; with a delayed call, this can be in the future
	delayedMs   int64 // the last trouble with a renewal or an ack
	renewed     []renewal
}

// renewal says when a node was last told that it had renewed a lock. A renewal whose answer was lost is none for the
// node, which gives the work up when the lock that it knows of has run out.
type renewal struct {
	token string
	atMs  int64
}

// renewalsMost is how many renewals are kept for a node; of a lock that is not among them, its beginning counts.
const renewalsMost = 64

func (n *keptNode) noteRenewal(token string, atMs int64) {
	if i := slices.IndexFunc(n.renewed, func(r renewal) bool { return r.token == token }); i >= 0 {
		n.renewed[i].atMs = atMs
		return
	}
	if len(n.renewed) == renewalsMost {
		n.renewed = slices.Delete(n.renewed, 0, renewalsMost/2)
	}
	n.renewed = append(n.renewed, renewal{token, atMs})
}

func (n *keptNode) lastRenewalMs(token string) int64 {
	for _, r := range n.renewed {
		if r.token == token {
			return r.atMs
		}
	}
	return math.MinInt64
}

// keptMarginMs is how long a call's request and answer legs may take when there is no fault, plus a small margin.
const keptMarginMs = 20

func newLockLossChecker(m *check.Run) check.Checker {
	return &lockLossChecker{outageMs: math.MinInt64, nodes: make([]keptNode, 0, len(m.World.Nodes())), Base: check.Base{
		Run: m, OnObserve: check.SetOf(observe.LockTaken, observe.SessionSet),
		OnRecord: check.SetOf(record.NodeStarted, record.NodeStopped, record.NodeCrashed, record.NodePaused, record.NodeResumed, record.Fault, record.Answered),
		OnEnd:    check.Ends{OK: check.SetOf(observe.CallRenewWorkItemLock, observe.CallAckWorkItem)},
	}}
}

// RecordsOf narrows the records of calls to renewals.
func (k *lockLossChecker) RecordsOf(of record.Kind) check.Set[observe.CallKind] {
	if of == record.Answered {
		return check.SetOf(observe.CallRenewOrchestrationItemLock, observe.CallRenewWorkItemLock)
	}
	return check.AnyCall
}

func (k *lockLossChecker) Record(r *cluster.Record) {
	if r.Kind == record.Fault && r.Fault == faults.Unavailable {
		k.outageMs = r.AtMs + check.OutageMs
	}
	if r.Node == 0 {
		return
	}
	for len(k.nodes) < int(r.Node) {
		k.nodes = append(k.nodes, keptNode{cutOffMs: math.MinInt64, delayedMs: math.MinInt64})
	}
	n := &k.nodes[r.Node-1]
	switch r.Kind {
	case record.NodeStarted:
		n.up, n.paused, n.incarnation, n.renewed = true, false, r.Incarnation, n.renewed[:0]
	case record.NodeStopped, record.NodeCrashed:
		n.up = false
	case record.NodePaused:
		n.paused, n.cutOffMs = true, max(n.cutOffMs, r.AtMs)
	case record.NodeResumed:
		n.paused, n.cutOffMs = false, max(n.cutOffMs, r.AtMs)
	case record.Answered:
		if r.Err == nil {
			n.noteRenewal(call.LockToken(r.Request), r.AtMs)
		}
	case record.Fault:
		k.onFault(n, r)
	}
}

func (k *lockLossChecker) onFault(n *keptNode, r *cluster.Record) {
	until := r.AtMs
	switch r.Fault {
	case faults.SlowTurn, faults.LateActivity, faults.ActivityPanic, faults.ClockSkew, faults.ExecutionForgotten:
		return // the renewal is due as usual
	case faults.SlowFetch, faults.SlowAnswer:
		return // the node holds no lock during the delay
	case faults.CallDelayed, faults.SlowCommit:
		until += r.For.Milliseconds() + 1
	case faults.PermanentError:
		if r.CallKind == observe.CallAckOrchestrationItem {
			n.delayedMs = max(n.delayedMs, until) // the node gives the turn back
			return
		}
		n.cutOffMs = max(n.cutOffMs, until) // the node does not retry a renewal that failed permanently
		return
	}
	switch r.CallKind {
	case observe.CallRenewOrchestrationItemLock, observe.CallRenewWorkItemLock, observe.CallAckOrchestrationItem, observe.CallAckWorkItem:
		n.delayedMs = max(n.delayedMs, until)
	default:
		n.cutOffMs = max(n.cutOffMs, until)
	}
}

func (k *lockLossChecker) Observe(o *observe.Observation) {
	switch {
	case o.Kind == observe.SessionSet:
		k.claimed(o)
		return
	case o.Undo:
		return
	}
	was, item := k.Run.Model.LockBefore(o), ""
	if was.Token == "" || was.Live(o.AtMs) || was.Holder.Node == 0 || int(was.Holder.Node) > len(k.nodes) {
		return
	}
	n := &k.nodes[was.Holder.Node-1]
	takenMs, untilMs := was.TakenMs-k.Run.AheadMs(was.Holder.Node), was.UntilMs-k.Run.AheadMs(was.Holder.Node)-k.Run.SkewMs() // true times
	if !n.up || n.paused || n.incarnation != was.Holder.Incarnation || n.cutOffMs >= takenMs || k.outageMs >= takenMs {
		return
	}
	options := &k.Run.World.Node(was.Holder.Node).Options
	timeout, buffer := options.OrchestratorLockTimeout, options.OrchestratorLockRenewalBuffer
	if o.Message != 0 {
		timeout, buffer = options.WorkerLockTimeout, options.WorkerLockRenewalBuffer
		item = model.ItemText(k.Run.Model.Row(o.Message))
	}
	if check.RenewedAfter(timeout, buffer).Milliseconds()+keptMarginMs+k.Run.SkewMs() >= timeout.Milliseconds() {
		return // with some clocks, such a lock expires before the contract lets the node renew it
	}
	known := min(untilMs, max(takenMs, n.lastRenewalMs(was.Token))+timeout.Milliseconds())
	if n.delayedMs >= takenMs && n.delayedMs+k.againMs(options, timeout) > known {
		return
	}
	k.Run.Violate(check.Breach{
		Property: "S19", Class: cluster.ClassSafety, Node: was.Holder.Node, Instance: o.Instance, Item: item,
		Message: k.Run.Who(was.Holder) + " lost its lock (" + k.Run.LockText(*was) + "), since token " + o.Token + " was given out at " + k.Run.At(o.AtMs) +
			": it is up, not frozen, and was not cut off since it took the lock: expected it to renew the lock or to give it back",
	})
}

// againMs returns how long a node may take to notice that a renewal or ack failed and to try again.
func (k *lockLossChecker) againMs(o *node.Options, timeout time.Duration) int64 {
	pause := max(check.RenewalRetry(timeout), check.LastAckRetry)
	return (o.CallDeadline + pause).Milliseconds() + 2*keptMarginMs
}
