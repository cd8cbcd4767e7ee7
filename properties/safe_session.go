package properties

import (
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// This file has what is asked of nodes about sessions: that they run activities of no more sessions at a time than they may
// (S16), and that they keep the session whose activity they run (S19).

// sessionWork is an activity of a session that a node runs.
type sessionWork struct {
	caller engine.Caller
	slot   node.Slot
	item   engine.ActivityExecuteItem
}

// record follows what nodes run.
func (k *routingChecker) record(r *cluster.Record) {
	caller := engine.Caller{Node: r.Node, Incarnation: r.Incarnation}
	if r.Kind == cluster.RecNote && r.Note.Decision != node.DecideWorkLost {
		return
	}
	if len(k.running) > 0 {
		k.running = slices.DeleteFunc(k.running, func(w sessionWork) bool {
			switch {
			case w.caller.Node != r.Node:
				return false
			case w.caller != caller:
				return true
			case r.Kind == cluster.RecActivityFinished:
				return w.item == r.Activity.Item
			case r.Kind == cluster.RecNote:
				return w.slot == r.Note.Slot
			}
			return w.slot == r.Slot
		})
	}
	if r.Kind != cluster.RecActivityStarted || r.Activity.Item.SessionID == "" {
		return
	}
	k.running = append(k.running, sessionWork{caller, r.Slot, r.Activity.Item})
	most, count := k.m.w.Node(r.Node).Options.MaxSessionsPerRuntime, 0
	for i, w := range k.running {
		same := func(x sessionWork) bool { return x.caller == w.caller && x.item.SessionID == w.item.SessionID }
		if w.caller == caller && slices.IndexFunc(k.running, same) == i {
			count++
		}
	}
	if count > most {
		k.m.safety("S16", r.Node, k.m.store.number(r.Activity.Item.Instance), "%s runs activities of %d sessions at once, the last that of %s: expected at most %d, its max_sessions_per_runtime",
			k.m.who(caller), count, strconv.Quote(r.Activity.Item.SessionID), most)
	}
}

// keptSession is a session that a node has claimed.
type keptSession struct {
	id      string
	caller  engine.Caller
	sinceMs int64 // since when he has it without a gap
	untilMs int64
	lost    bool // and that was told
}

// claimed follows who has which session.
func (k *keptChecker) claimed(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	i := slices.IndexFunc(k.sessions, func(x keptSession) bool { return x.id == o.Name })
	if i < 0 {
		k.sessions = append(k.sessions, keptSession{id: o.Name})
		i = len(k.sessions) - 1
	}
	x := &k.sessions[i]
	if c != nil && c.kind == engine.CallFetchWorkItem {
		if x.caller != c.caller || x.untilMs <= o.AtMs {
			x.sinceMs, x.lost = o.AtMs, false
		}
		x.caller = c.caller
	}
	x.untilMs = o.UntilMs
}

// worked judges a node that renews or acknowledges an activity of a session that it has let run out. It is active, so that
// only trouble excuses it, as with other locks.
func (k *keptChecker) worked(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	if c == nil || c.caller.Node == 0 || int(c.caller.Node) > len(k.nodes) {
		return
	}
	for _, r := range c.rows {
		w, ok := r.item.(engine.ActivityExecuteItem)
		if !ok || w.SessionID == "" || r.was.lock.token != c.request.Token {
			continue
		}
		i := slices.IndexFunc(k.sessions, func(x keptSession) bool { return x.id == w.SessionID })
		if i < 0 || k.sessions[i].lost || k.sessions[i].caller != c.caller || k.sessions[i].untilMs > o.AtMs || r.was.lock.takenMs < k.sessions[i].sinceMs {
			continue
		}
		x, n := &k.sessions[i], &k.nodes[c.caller.Node-1]
		if !n.up || n.paused || n.incarnation != c.caller.Incarnation || max(n.cutOffMs, n.delayedMs, k.outageMs) >= x.sinceMs {
			continue
		}
		options := &k.m.w.Node(c.caller.Node).Options
		timeout := options.SessionLockTimeout
		if node.RenewalInterval(timeout, options.SessionLockRenewalBuffer)+keptMarginMs*time.Millisecond >= timeout {
			continue
		}
		x.lost = true
		k.m.violate(finding{
			property: "S19", class: cluster.ClassSafety, node: c.caller.Node, instance: r.instance.no, item: itemText(r),
			message: k.m.who(c.caller) + " lost session " + strconv.Quote(x.id) + " at " + k.m.at(x.untilMs) + " while it worked for it (" + itemText(r) +
				", " + k.m.lockText(r.was.lock) + "): it is up, not frozen, and was not cut off since it claimed the session at " + k.m.at(x.sinceMs) +
				": expected it to renew the session",
		})
	}
}
