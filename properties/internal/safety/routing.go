package safety

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// routingChecker checks rule S16: activities are routed correctly. An activity with a tag goes only to a fetch whose
// filter names the tag. A session's activities go only to the session's owner. Activities that an ack cancels
// disappear.
//
// From the calls, the checker derives each session's owner, the end of its lock and the time of its last activity,
// following docs/contract/provider.md#p5.8 to #p5.13 and #p6.6. It compares these with the sessions rows after each
// call that changes them or should have changed them.
type routingChecker struct {
	check.Base
	held  []model.Session              // the expected sessions, sorted by id
	taken map[observe.MessageNo]string // the owner that last took each session activity; never iterated over, so map order does not matter
	// due is set if the current call changes sessions or should change them.
	due     bool
	running []sessionWork // the session activities that nodes are running
}

func newRoutingChecker(m *check.Run) check.Checker { return &routingChecker{Base: check.Base{Run: m}} }

func (*routingChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(observe.SessionSet, observe.SessionRemoved)
}

func (*routingChecker) Ends() check.Ends {
	return check.Ends{
		OK: check.SetOf(
			observe.CallFetchWorkItem, observe.CallAckWorkItem, observe.CallRenewWorkItemLock, observe.CallRenewSessionLock,
			observe.CallCleanupOrphanedSessions, observe.CallAckOrchestrationItem,
		),
		Touched: check.AnyCall,
	}
}

func (*routingChecker) Records() check.Set[record.Kind] {
	return check.SetOf(record.ActivityStarted, record.ActivityFinished, record.Note)
}

func (k *routingChecker) Observe(o *observe.Observation) {
	k.due = true
}

func (k *routingChecker) Ended(c *model.Call, o *observe.Observation) {
	if o.Outcome == observe.OutcomeOK {
		switch c.Kind {
		case observe.CallFetchWorkItem:
			k.delivered(c, o)
		case observe.CallAckWorkItem, observe.CallRenewWorkItemLock:
			k.worked(c, o.AtMs)
		case observe.CallRenewSessionLock:
			k.renewed(c, o)
		case observe.CallCleanupOrphanedSessions:
			k.cleaned(c, o.AtMs)
		case observe.CallAckOrchestrationItem:
			k.cancelled(c)
		}
	}
	if k.due {
		k.compare(c)
	}
}

// delivered judges whether a caller may get an activity, and claims the activity's session for that caller.
func (k *routingChecker) delivered(c *model.Call, o *observe.Observation) {
	if len(c.Messages) == 0 {
		return
	}
	r := k.Run.Model.Row(c.Messages[0])
	w, ok := r.Item.(engine.ActivityExecuteItem)
	if !ok {
		return
	}
	if !model.TakesTag(c.Request.Tags, w.Tag) {
		k.report(c, r, "has tag "+strconv.Quote(w.Tag)+" but went to a fetch for "+tagText(c.Request.Tags)+": expected the tag filter to exclude it")
	}
	if w.SessionID == "" {
		return
	}
	config := c.Request.Session
	if config == nil {
		k.report(c, r, "belongs to session "+strconv.Quote(w.SessionID)+" but went to a fetch without a session owner: expected such a fetch to skip it")
		return
	}
	k.due = true
	if k.taken == nil {
		k.taken = make(map[observe.MessageNo]string)
	}
	k.taken[r.No] = config.OwnerID
	want := model.Session{ID: w.SessionID, Owner: config.OwnerID, UntilMs: after(o.AtMs, config.LockTimeout), ActivityMs: o.AtMs}
	i, had := k.find(w.SessionID)
	switch {
	case !had:
		k.held = slices.Insert(k.held, i, want)
		return
	case k.held[i].UntilMs > o.AtMs && k.held[i].Owner != config.OwnerID:
		k.report(c, r, "belongs to session "+strconv.Quote(w.SessionID)+", which is "+k.sessionText(k.held[i])+", but went to "+config.OwnerID+
			": expected a live session's activities to go to its owner")
	case k.held[i].UntilMs > o.AtMs && k.held[i].UntilMs > want.UntilMs:
		// A refresh may shorten the lock (F26).
		if j, ok := model.FindSession(k.Run.Model.Sessions, w.SessionID); ok && k.Run.Model.Sessions[j].UntilMs == k.held[i].UntilMs {
			want.UntilMs = k.held[i].UntilMs
		}
	case k.held[i].Owner != config.OwnerID:
		k.Run.Happened(check.FactSessionTakenOver)
	}
	k.held[i] = want
}

func tagText(f engine.TagFilter) string {
	switch f.Mode {
	case engine.TagNone:
		return "no activities"
	case engine.TagTags:
		return fmt.Sprintf("activities with one of the tags %q", f.Tags)
	case engine.TagDefaultAnd:
		return fmt.Sprintf("activities with no tag or one of the tags %q", f.Tags)
	}
	return "activities with no tag"
}

// worked records session activity when the owner that took the work acks or renews it. If the owner has changed since,
// the provider may or may not count it (F27).
func (k *routingChecker) worked(c *model.Call, nowMs int64) {
	if len(k.held) == 0 {
		return
	}
	for _, r := range c.Rows {
		w, ok := r.Item.(engine.ActivityExecuteItem)
		if !ok || r.Was.Lock.Token != c.Request.Token {
			continue
		}
		i, had := k.find(w.SessionID)
		if !had || k.held[i].UntilMs <= nowMs {
			continue
		}
		if k.taken[r.No] != k.held[i].Owner {
			if j, ok := model.FindSession(k.Run.Model.Sessions, w.SessionID); ok && k.Run.Model.Sessions[j].ActivityMs != nowMs {
				continue
			}
		}
		k.held[i].ActivityMs = nowMs
		k.due = true
	}
}

// renewed extends the sessions that the given owners hold and use.
func (k *routingChecker) renewed(c *model.Call, o *observe.Observation) {
	n := 0
	for i := range k.held {
		x := &k.held[i]
		if !slices.Contains(c.Request.Owners, x.Owner) || x.UntilMs <= o.AtMs || x.ActivityMs <= o.AtMs-c.Request.IdleTimeout.Milliseconds() {
			continue
		}
		x.UntilMs = after(o.AtMs, c.Request.LockTimeout)
		k.due = true
		n++
	}
	if n != int(o.NewCount) {
		k.Run.Safety("S16", c.Caller.Node, 0, "a session renewal by %s for %q reported %d renewed sessions, expected %d", k.Run.Who(c.Caller), c.Request.Owners, o.NewCount, n)
	}
}

// cleaned removes expired sessions that have no work. A provider with its own cleanup may keep them for a while.
func (k *routingChecker) cleaned(c *model.Call, nowMs int64) {
	k.held = slices.DeleteFunc(k.held, func(x model.Session) bool {
		_, kept := model.FindSession(k.Run.Model.Sessions, x.ID)
		return !kept && x.UntilMs < nowMs && k.workOf(x.ID) == nil
	})
}

// workOf returns an activity of a session, or nil if there is none.
func (k *routingChecker) workOf(id string) *model.Row {
	for no := 1; no <= k.Run.Model.InstanceCount(); no++ {
		for _, r := range k.Run.Model.Instance(observe.InstanceNo(no)).Work {
			if w, ok := r.Item.(engine.ActivityExecuteItem); ok && w.SessionID == id {
				return r
			}
		}
	}
	return nil
}

// cancelled checks that the activities that an ack cancels are not in the worker queue afterwards, even if that ack
// inserted them itself.
func (k *routingChecker) cancelled(c *model.Call) {
	ack := c.Request.Ack
	if ack == nil {
		return
	}
	for _, id := range ack.CancelledActivities {
		no := k.Run.Model.Number(id.Instance)
		if no == 0 {
			continue
		}
		for _, r := range k.Run.Model.Instance(no).Work {
			if r.Execution == id.ExecutionID && r.ID == id.ActivityID {
				k.report(c, r, "was cancelled by the ack of token "+c.Request.Token+" but is still queued: expected its removal")
			}
		}
	}
}

// compare compares the sessions with the expected ones. It reports each difference only once.
func (k *routingChecker) compare(c *model.Call) {
	k.due = false
	have := k.Run.Model.Sessions
	if slices.Equal(k.held, have) {
		return
	}
	seen, want := "", ""
	for _, x := range k.held {
		if i, ok := model.FindSession(have, x.ID); !ok || have[i] != x {
			seen, want = "session "+strconv.Quote(x.ID)+" is gone", k.sessionText(x)
			if ok {
				seen = "session " + strconv.Quote(x.ID) + " is " + k.sessionText(have[i])
			}
			if r := k.workOf(x.ID); !ok && r != nil {
				want += ", with " + model.ItemText(r) + " of " + r.Instance.Name + " in its queue"
			}
			break
		}
	}
	if seen == "" {
		for _, x := range have {
			if _, ok := model.FindSession(k.held, x.ID); !ok {
				seen, want = "session "+strconv.Quote(x.ID)+" is "+k.sessionText(x), "no row"
				break
			}
		}
	}
	k.held = append(k.held[:0], have...)
	k.Run.Safety("S16", c.Caller.Node, 0, "after %s by %s at %s %s: expected %s", c.Kind, k.Run.Who(c.Caller), k.Run.At(c.BeganMs), seen, want)
}

func (k *routingChecker) find(id string) (int, bool) { return model.FindSession(k.held, id) }

func (k *routingChecker) sessionText(x model.Session) string {
	return "owned by " + x.Owner + " until " + k.Run.At(x.UntilMs) + ", active at " + k.Run.At(x.ActivityMs)
}

func (k *routingChecker) report(c *model.Call, r *model.Row, seen string) {
	k.Run.Violate(check.Breach{
		Property: "S16", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: r.Instance.No, Item: model.ItemText(r),
		Message: model.ItemText(r) + " " + seen + " (" + c.Kind.String() + " by " + k.Run.Who(c.Caller) + ")",
	})
}
