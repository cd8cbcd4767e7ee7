package properties

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// routingChecker asks that activities go where they belong: S16. A tag goes to a filter that names it, a session's
// activities to its owner alone, and what an ack cancels is gone.
//
// Who owns which session, until when, and when he was last active, it works out from the calls by the rules of
// docs/contract/provider.md#p5.8 to #p5.13 and #p6.6, and compares that with the sessions rows after each call that
// changes them or should.
type routingChecker struct {
	base
	held  []sessionState              // as they must be, in order of id
	taken map[engine.MessageNo]string // who took a session activity last; only looked up
	// due says that the running call changes sessions, or must.
	due     bool
	running []sessionWork // the activities of sessions that nodes run
}

func newRoutingChecker(m *run) checker { return &routingChecker{base: base{m}} }

func (*routingChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd, engine.ObsSessionSet, engine.ObsSessionRemoved}
}

func (*routingChecker) records() []cluster.RecordKind {
	return []cluster.RecordKind{cluster.RecActivityStarted, cluster.RecActivityFinished, cluster.RecNote}
}

func (k *routingChecker) observe(o *engine.Observation) {
	if o.Kind != engine.ObsCallEnd {
		k.due = true
		return
	}
	c := k.m.store.call(o.Call)
	if c == nil {
		return
	}
	if o.Outcome == engine.OutcomeOK {
		switch c.kind {
		case engine.CallFetchWorkItem:
			k.delivered(c, o)
		case engine.CallAckWorkItem, engine.CallRenewWorkItemLock:
			k.worked(c, o.AtMs)
		case engine.CallRenewSessionLock:
			k.renewed(c, o)
		case engine.CallCleanupOrphanedSessions:
			k.cleaned(c, o.AtMs)
		case engine.CallAckOrchestrationItem:
			k.cancelled(c)
		}
	}
	if k.due {
		k.compare(c)
	}
}

// delivered judges who gets an activity, and claims its session for him.
func (k *routingChecker) delivered(c *callState, o *engine.Observation) {
	if len(c.messages) == 0 {
		return
	}
	r := k.m.store.row(c.messages[0])
	w, ok := r.item.(engine.ActivityExecuteItem)
	if !ok {
		return
	}
	if !takesTag(c.request.Tags, w.Tag) {
		k.report(c, r, "has tag "+strconv.Quote(w.Tag)+" and went to a fetch for "+tagText(c.request.Tags)+": expected the tag filter to leave it")
	}
	if w.SessionID == "" {
		return
	}
	config := c.request.Session
	if config == nil {
		k.report(c, r, "belongs to session "+strconv.Quote(w.SessionID)+" and went to a fetch without a session owner: expected such a fetch to leave it")
		return
	}
	k.due = true
	if k.taken == nil {
		k.taken = make(map[engine.MessageNo]string)
	}
	k.taken[r.no] = config.OwnerID
	want := sessionState{id: w.SessionID, owner: config.OwnerID, untilMs: after(o.AtMs, config.LockTimeout), activityMs: o.AtMs}
	i, had := k.find(w.SessionID)
	switch {
	case !had:
		k.held = slices.Insert(k.held, i, want)
		return
	case k.held[i].untilMs > o.AtMs && k.held[i].owner != config.OwnerID:
		k.report(c, r, "belongs to session "+strconv.Quote(w.SessionID)+", which is "+k.sessionText(k.held[i])+", and went to "+config.OwnerID+
			": expected a live session's activities to go to its owner")
	case k.held[i].untilMs > o.AtMs && k.held[i].untilMs > want.untilMs:
		// Whether a refresh shortens is free (F26).
		if j, ok := findSession(k.m.store.sessions, w.SessionID); ok && k.m.store.sessions[j].untilMs == k.held[i].untilMs {
			want.untilMs = k.held[i].untilMs
		}
	case k.held[i].owner != config.OwnerID:
		k.m.happened(factSessionTakenOver)
	}
	k.held[i] = want
}

func tagText(f engine.TagFilter) string {
	switch f.Mode {
	case engine.TagAny:
		return "any tag"
	case engine.TagNone:
		return "no activities"
	case engine.TagTags:
		return fmt.Sprintf("the tags %q", f.Tags)
	case engine.TagDefaultAnd:
		return fmt.Sprintf("none or the tags %q", f.Tags)
	}
	return "none"
}

// worked is activity of a session: the ack or the renewal of what its owner took. Of what a former owner took it may be,
// too (F27).
func (k *routingChecker) worked(c *callState, nowMs int64) {
	if len(k.held) == 0 {
		return
	}
	for _, r := range c.rows {
		w, ok := r.item.(engine.ActivityExecuteItem)
		if !ok || r.queue != engine.QueueWorker || w.SessionID == "" || r.was.lock.token != c.request.Token {
			continue
		}
		i, had := k.find(w.SessionID)
		if !had || k.held[i].untilMs <= nowMs {
			continue
		}
		if k.taken[r.no] != k.held[i].owner {
			if j, ok := findSession(k.m.store.sessions, w.SessionID); ok && k.m.store.sessions[j].activityMs != nowMs {
				continue
			}
		}
		k.held[i].activityMs = nowMs
		k.due = true
	}
}

// renewed extends what the owners hold and are active in.
func (k *routingChecker) renewed(c *callState, o *engine.Observation) {
	n := 0
	for i := range k.held {
		x := &k.held[i]
		if !slices.Contains(c.request.Owners, x.owner) || x.untilMs <= o.AtMs || x.activityMs <= o.AtMs-c.request.IdleTimeout.Milliseconds() {
			continue
		}
		x.untilMs = after(o.AtMs, c.request.LockTimeout)
		k.due = true
		n++
	}
	if n != int(o.NewCount) {
		k.m.safety("S16", c.caller.Node, 0, "a session renewal by %s for %q told %d renewed sessions, expected %d", k.m.who(c.caller), c.request.Owners, o.NewCount, n)
	}
}

// cleaned removes what ran out and has no work. A provider that cleans up itself may keep it for a while.
func (k *routingChecker) cleaned(c *callState, nowMs int64) {
	k.held = slices.DeleteFunc(k.held, func(x sessionState) bool {
		_, kept := findSession(k.m.store.sessions, x.id)
		return !kept && x.untilMs < nowMs && k.workOf(x.id) == nil
	})
}

// workOf is an activity of a session, nil if there is none.
func (k *routingChecker) workOf(id string) *rowState {
	for no := 1; no <= k.m.store.instanceCount(); no++ {
		for _, r := range k.m.store.instance(engine.InstanceNo(no)).work {
			if w, ok := r.item.(engine.ActivityExecuteItem); ok && w.SessionID == id {
				return r
			}
		}
	}
	return nil
}

// cancelled: what an ack cancels, old or inserted by that ack, is not in the worker queue after it.
func (k *routingChecker) cancelled(c *callState) {
	ack := c.request.Ack
	if ack == nil {
		return
	}
	for _, id := range ack.CancelledActivities {
		no := k.m.store.number(id.Instance)
		if no == 0 {
			continue
		}
		for _, r := range k.m.store.instance(no).work {
			if r.execution == id.ExecutionID && r.id == id.ActivityID {
				k.report(c, r, "was cancelled by the ack of token "+c.request.Token+" and is still queued: expected it to be gone")
			}
		}
	}
}

// compare compares the sessions with what they must be. What differs is told once.
func (k *routingChecker) compare(c *callState) {
	k.due = false
	have := k.m.store.sessions
	if slices.Equal(k.held, have) {
		return
	}
	seen, want := "", ""
	for _, x := range k.held {
		if i, ok := findSession(have, x.id); !ok || have[i] != x {
			seen, want = "session "+strconv.Quote(x.id)+" is gone", k.sessionText(x)
			if ok {
				seen = "session " + strconv.Quote(x.id) + " is " + k.sessionText(have[i])
			}
			if r := k.workOf(x.id); !ok && r != nil {
				want += ", with " + itemText(r) + " of " + r.instance.name + " in its queue"
			}
			break
		}
	}
	if seen == "" {
		for _, x := range have {
			if _, ok := findSession(k.held, x.id); !ok {
				seen, want = "session "+strconv.Quote(x.id)+" is "+k.sessionText(x), "no row"
				break
			}
		}
	}
	k.held = append(k.held[:0], have...)
	k.m.safety("S16", c.caller.Node, 0, "after %s by %s at %s %s: expected %s", c.kind, k.m.who(c.caller), k.m.at(c.beganMs), seen, want)
}

func (k *routingChecker) find(id string) (int, bool) { return findSession(k.held, id) }

func findSession(list []sessionState, id string) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(x sessionState, id string) int { return cmp.Compare(x.id, id) })
}

func (k *routingChecker) sessionText(x sessionState) string {
	return "owned by " + x.owner + " until " + k.m.at(x.untilMs) + ", active at " + k.m.at(x.activityMs)
}

func (k *routingChecker) report(c *callState, r *rowState, seen string) {
	k.m.violate(finding{
		property: "S16", class: cluster.ClassSafety, node: c.caller.Node, instance: r.instance.no, item: itemText(r),
		message: itemText(r) + " " + seen + " (" + c.kind.String() + " by " + k.m.who(c.caller) + ")",
	})
}
