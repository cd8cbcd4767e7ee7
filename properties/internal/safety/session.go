package safety

import (
	"slices"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// This file checks how nodes treat sessions. A node must not run activities from more sessions at a time than its limit
// (S16), and it must keep a session for as long as it runs one of the session's activities (S19).

// sessionCapChecker checks what rule S16 says about nodes.
type sessionCapChecker struct {
	check.Base
	running []sessionWork // the session activities that nodes are running
}

func newSessionCapChecker(m *check.Run) check.Checker {
	return &sessionCapChecker{Base: check.Base{Run: m, OnRecord: check.SetOf(record.ActivityStarted, record.ActivityFinished, record.CallSent)}}
}

// RecordsOf narrows the records of calls to those that end a delivery. An activity whose lock is lost runs on until its
// node gives it back, at the end of the grace period at the latest.
func (k *sessionCapChecker) RecordsOf(of record.Kind) check.Set[observe.CallKind] {
	if of == record.CallSent {
		return check.SetOf(observe.CallAckWorkItem, observe.CallAbandonWorkItem)
	}
	return check.AnyCall
}

// sessionWork is a session activity that a node is running.
type sessionWork struct {
	caller observe.Caller
	slot   machine.Slot
	item   engine.ActivityExecuteItem
}

// Record tracks the session activities that nodes are running.
func (k *sessionCapChecker) Record(r *cluster.Record) {
	caller := observe.Caller{Node: r.Node, Incarnation: r.Incarnation}
	if len(k.running) > 0 {
		k.running = slices.DeleteFunc(k.running, func(w sessionWork) bool {
			switch {
			case w.caller.Node != r.Node:
				return false
			case w.caller != caller:
				return true
			case r.Kind == record.ActivityFinished:
				return w.item == r.Activity.Item
			}
			return w.slot == r.Slot
		})
	}
	if r.Kind != record.ActivityStarted || r.Activity.Item.SessionID == "" {
		return
	}
	k.running = append(k.running, sessionWork{caller, r.Slot, r.Activity.Item})
	most, count := k.Run.World.Node(r.Node).Options.MaxSessionsPerRuntime, 0
	for i, w := range k.running {
		same := func(x sessionWork) bool { return x.caller == w.caller && x.item.SessionID == w.item.SessionID }
		if w.caller == caller && slices.IndexFunc(k.running, same) == i {
			count++
		}
	}
	if count > most {
		k.Run.Safety("S16", r.Node, k.Run.Model.Number(r.Activity.Item.Instance), "%s runs activities of %d sessions at once, the last that of %s: expected at most %d, its max_sessions_per_runtime",
			k.Run.Who(caller), count, strconv.Quote(r.Activity.Item.SessionID), most)
	}
}

// keptSession is a session that a node has claimed.
type keptSession struct {
	id      string
	caller  observe.Caller
	sinceMs int64 // start of the node's uninterrupted ownership
	untilMs int64
	lost    bool // whether the loss has been reported
}

// claimed records which node owns which session.
func (k *lockLossChecker) claimed(o *observe.Observation) {
	c := k.Run.Model.Call(o.Call)
	i := slices.IndexFunc(k.sessions, func(x keptSession) bool { return x.id == o.Name })
	if i < 0 {
		k.sessions = append(k.sessions, keptSession{id: o.Name})
		i = len(k.sessions) - 1
	}
	x := &k.sessions[i]
	if c != nil && c.Kind == observe.CallFetchWorkItem {
		if x.caller != c.Caller || x.untilMs <= o.AtMs {
			x.sinceMs, x.lost = o.AtMs, false
		}
		x.caller = c.Caller
	}
	x.untilMs = o.UntilMs
}

// Ended judges a node that renews or acks a session activity after letting the session's lock expire. Since the node
// is active, only trouble excuses it, as with other locks.
func (k *lockLossChecker) Ended(c *model.Call, o *observe.Observation) {
	if c.Caller.Node == 0 || int(c.Caller.Node) > len(k.nodes) {
		return
	}
	for _, r := range c.Rows {
		w, ok := r.Item.(engine.ActivityExecuteItem)
		if !ok || w.SessionID == "" || r.Was.Lock.Token != c.Request.Token {
			continue
		}
		i := slices.IndexFunc(k.sessions, func(x keptSession) bool { return x.id == w.SessionID })
		if i < 0 || k.sessions[i].lost || k.sessions[i].caller != c.Caller || k.sessions[i].untilMs > o.AtMs || r.Was.Lock.TakenMs < k.sessions[i].sinceMs {
			continue
		}
		x, n := &k.sessions[i], &k.nodes[c.Caller.Node-1]
		if !n.up || n.paused || n.incarnation != c.Caller.Incarnation || max(n.cutOffMs, n.delayedMs, k.outageMs) >= x.sinceMs-k.Run.AheadMs(c.Caller.Node) {
			continue
		}
		options := &k.Run.World.Node(c.Caller.Node).Options
		timeout := options.SessionLockTimeout
		if check.RenewedAfter(timeout, options.SessionLockRenewalBuffer).Milliseconds()+keptMarginMs+k.Run.SkewMs() >= timeout.Milliseconds() {
			continue
		}
		x.lost = true
		k.Run.Violate(check.Breach{
			Property: "S19", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: r.Instance.No, Item: model.ItemText(r),
			Message: k.Run.Who(c.Caller) + " lost session " + strconv.Quote(x.id) + " at " + k.Run.At(x.untilMs) + " while it worked in it (" + model.ItemText(r) +
				", " + k.Run.LockText(r.Was.Lock) + "): it is up, not frozen, and was not cut off since it claimed the session at " + k.Run.At(x.sinceMs) +
				": expected it to renew the session",
		})
	}
}
