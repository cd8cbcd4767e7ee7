package safety

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// eligibleChecker checks rule S22: a fetch returns nothing, or stays parked beyond its cadence, only while no work is
// eligible for it. It asks the model, not the store, and so notices rows that the index has lost.
//
// Parked fetches with the same request form a group. The store tries one at a time, so the group is late once something
// has been eligible for a whole cadence without a try. A paused node tries nothing and is not judged.
type eligibleChecker struct {
	check.Base
	groups  []fetchGroup
	recent  []recentGroups // indexed by node number
	waiting int
	// changes is what may have become eligible or ineligible. Each group remembers how far it has read these lists.
	changes         *model.Changes
	seen, forgotten uint64 // the counts of all changes, and of forgetting them, at the last look
	// lookAtMs is the earliest time at which some group must be judged even if nothing has changed.
	lookAtMs int64
}

// wakeMarginMs is how much rounding to whole milliseconds may add to a cadence.
const wakeMarginMs = 2

func newEligibleChecker(m *check.Run) check.Checker {
	records := check.SetOf(record.CallExecuted, record.Parked, record.Unparked, record.Woken, record.NodePaused, record.NodeResumed)
	return &eligibleChecker{Base: check.Base{Run: m, OnRecord: records}, changes: &m.Model.Changes, lookAtMs: model.NeverMs}
}

func (c *eligibleChecker) Record(r *cluster.Record) {
	c.keepUp()
	switch r.Kind {
	case record.CallExecuted:
		if r.Outcome == observe.OutcomeNothing {
			c.onNothing(r)
		}
	case record.Parked:
		c.onParked(r)
	case record.Unparked, record.Woken:
		c.onLeft(r)
	case record.NodePaused, record.NodeResumed:
		for i := range c.groups {
			for j := range c.groups[i].waiters {
				if w := &c.groups[i].waiters[j]; w.node == r.Node && w.incarnation == r.Incarnation {
					w.paused = r.Kind == record.NodePaused
				}
			}
			c.groups[i].setCadence()
			c.groups[i].triedMs = r.AtMs
			c.lookAgain(&c.groups[i], r.AtMs)
		}
	}
}

// keepUp makes every group look at everything if changes were forgotten.
func (c *eligibleChecker) keepUp() {
	if c.forgotten == c.changes.Forgotten {
		return
	}
	c.forgotten = c.changes.Forgotten
	for i := range c.groups {
		c.groups[i].stale = true
	}
}

// onNothing judges a fetch that found nothing, at the moment of its answer.
func (c *eligibleChecker) onNothing(r *cluster.Record) {
	g := c.group(r)
	if g == nil {
		return
	}
	atMs := r.AtMs + c.Run.AheadMs(r.Node)
	if c.Run.SkewMs() > 0 {
		g.stale = true // the last look used a different clock
	}
	if g.work {
		g.stale = g.stale || g.owners
		if row, _ := c.findWork(g, r.Request.(call.FetchWorkItem).Session, atMs); row != nil {
			c.Run.Safety("S22", r.Node, row.Instance.No, "the fetch of %s (call %d) returned nothing although activity message %d of %s is eligible: %s",
				c.Run.NodeName(r.Node), r.Call, row.No, row.Instance.Name, c.activity(row))
		}
		return
	}
	if in, _ := c.findInstance(g, atMs); in != nil {
		c.Run.Safety("S22", r.Node, in.No, "the fetch of %s (call %d, filter %s) returned nothing although %s is eligible: pin %s, %s, %s",
			c.Run.NodeName(r.Node), r.Call, g.filter, in.Name, model.PinText(in.Pin()), c.ready(in, atMs), c.Run.LockText(in.Lock))
		return
	}
	if !model.Admits(g.filter, nil) {
		return
	}
	for _, in := range c.Run.Model.Bare {
		if c.Run.Model.Orphaned(in, atMs) {
			c.Run.Safety("S22", r.Node, in.No, "a fetch of %s (call %d) returned nothing and left the orphaned queue messages of %s in the queue: expected a fetch to drop them",
				c.Run.NodeName(r.Node), r.Call, in.Name)
			return
		}
	}
}

// findInstance returns an instance that is eligible for a group, or nil and the time of the next look.
func (c *eligibleChecker) findInstance(g *fetchGroup, nowMs int64) (*model.Instance, int64) {
	g.instance = look(g, g.instance, c.Run.Model.Queued, c.changes.Instances, nowMs, func(in *model.Instance) (bool, int64) {
		return c.Run.Model.Eligible(in, g.filter, nowMs)
	})
	return g.instance, g.atMs
}

// findWork is like findInstance, for activities and for one of the group's fetches.
func (c *eligibleChecker) findWork(g *fetchGroup, session *engine.SessionFetchConfig, nowMs int64) (*model.Row, int64) {
	g.row = look(g, g.row, c.Run.Model.Work, c.changes.Work, nowMs, func(r *model.Row) (bool, int64) {
		return c.Run.Model.EligibleWork(r, session, g.tags, nowMs)
	})
	return g.row, g.atMs
}

// look returns what is eligible for a group: what it had at the last look, if that still is, or else the first of all or,
// as long as nothing else can have become eligible, of what has changed.
func look[T any](g *fetchGroup, had *T, all, changed []*T, nowMs int64, eligible func(*T) (now bool, atMs int64)) *T {
	if had != nil && !g.stale {
		if ok, _ := eligible(had); ok {
			return had
		}
	}
	list := all
	if !g.stale && had == nil && nowMs < g.atMs {
		list = changed[g.read:]
	} else {
		g.atMs = model.NeverMs
	}
	g.stale, g.read = false, len(changed)
	for _, x := range list {
		ok, at := eligible(x)
		if ok {
			return x
		}
		g.atMs = min(g.atMs, at)
	}
	return nil
}

func (c *eligibleChecker) onParked(r *cluster.Record) {
	g := c.group(r)
	if g == nil {
		return
	}
	w := waiter{call: r.Call, node: r.Node, incarnation: r.Incarnation, cadenceMs: r.Cadence.Milliseconds(), paused: c.Run.World.Node(r.Node).Paused}
	if q, ok := r.Request.(call.FetchWorkItem); ok {
		w.session = q.Session
	}
	g.waiters = append(g.waiters, w)
	g.setCadence()
	if len(g.waiters) == 1 {
		g.sinceMs, g.triedMs = 0, r.AtMs
	}
	c.waiting++
	c.lookAgain(g, r.AtMs)
}

// onLeft removes a fetch that is being retried or has been withdrawn.
func (c *eligibleChecker) onLeft(r *cluster.Record) {
	g := c.group(r)
	if g == nil {
		return
	}
	if i := slices.IndexFunc(g.waiters, func(w waiter) bool { return w.call == r.Call }); i >= 0 {
		g.waiters = slices.Delete(g.waiters, i, i+1)
		g.setCadence()
		c.waiting--
	}
	g.triedMs = r.AtMs
	c.lookAgain(g, r.AtMs)
}

// lookAgain schedules the group to be judged at the given time, unless it will be judged earlier.
func (c *eligibleChecker) lookAgain(g *fetchGroup, atMs int64) {
	g.lookAtMs = min(g.lookAtMs, atMs)
	c.lookAtMs = min(c.lookAtMs, atMs)
}

// AfterStep judges the groups whose queue has changed and those that are due.
func (c *eligibleChecker) AfterStep() {
	c.keepUp()
	if c.waiting == 0 || c.seen == c.changes.All && c.Run.World.NowMs() < c.lookAtMs {
		return
	}
	c.seen, c.lookAtMs = c.changes.All, model.NeverMs
	instances, work := len(c.changes.Instances), len(c.changes.Work)
	now, skewed := c.Run.World.NowMs(), c.Run.SkewMs() > 0
	for i := range c.groups {
		g := &c.groups[i]
		g.stale = g.stale || skewed
		if g.cadenceMs < 0 {
			g.lookAtMs = model.NeverMs // nobody waits, or only paused nodes do
			continue
		}
		last := instances
		if g.work {
			last = work
		}
		if now >= g.lookAtMs || g.stale || g.read < last || g.owners && g.sessions != c.changes.Sessions {
			g.lookAtMs = model.NeverMs
			c.judge(g, now)
		}
		c.lookAtMs = min(c.lookAtMs, g.lookAtMs)
	}
}

func (c *eligibleChecker) judge(g *fetchGroup, now int64) {
	cadence := g.cadenceMs
	in, row, at := c.next(g, now)
	if in == nil {
		g.sinceMs = 0
		g.lookAtMs = at
		return
	}
	if g.sinceMs == 0 {
		g.sinceMs = now
	}
	due := max(g.sinceMs, g.triedMs) + cadence + wakeMarginMs + c.Run.SkewMs()
	if now <= due {
		g.lookAtMs = due + 1
		return
	}
	if g.reported {
		return
	}
	g.reported = true
	w := g.waiters[0]
	if g.work {
		c.Run.Safety("S22", w.node, in.No, "%d fetches of activities stay parked, the first that of %s, although message %d of %s has been eligible since %s: bound %s = %s poll cadence + %s rounding, overdue by %s. %s",
			len(g.waiters), c.Run.NodeName(w.node), row.No, in.Name, c.Run.At(g.sinceMs), pretty.Duration(cadence+wakeMarginMs), pretty.Duration(cadence), pretty.Duration(wakeMarginMs),
			pretty.Duration(now-due), c.activity(row))
		return
	}
	c.Run.Safety("S22", w.node, in.No, "%d fetches with filter %s stay parked, the first that of %s, although %s has been eligible since %s: bound %s = %s poll cadence + %s rounding, overdue by %s. Its pin is %s, %s, %s",
		len(g.waiters), g.filter, c.Run.NodeName(w.node), in.Name, c.Run.At(g.sinceMs), pretty.Duration(cadence+wakeMarginMs), pretty.Duration(cadence), pretty.Duration(wakeMarginMs),
		pretty.Duration(now-due), model.PinText(in.Pin()), c.ready(in, now), c.Run.LockText(in.Lock))
}

// next returns an instance that is eligible for a group, with the row if the group fetches activities. If there is
// none, it returns the time of the next look.
func (c *eligibleChecker) next(g *fetchGroup, nowMs int64) (*model.Instance, *model.Row, int64) {
	if !g.work {
		in, at := c.findInstance(g, nowMs)
		return in, nil, at
	}
	g.sessions = c.changes.Sessions
	owned := g.owners && (len(c.Run.Model.Sessions) > 0 || c.Run.Model.SessionWork > 0)
	at := int64(model.NeverMs)
	for i := range g.waiters {
		w := &g.waiters[i]
		if w.paused {
			continue
		}
		g.stale = g.stale || owned
		row, next := c.findWork(g, w.session, nowMs)
		if row != nil {
			return row.Instance, row, nowMs
		}
		at = min(at, next)
		if !owned {
			break // all of them make the same request
		}
	}
	return nil, nil, at
}

// ready names an instance's first visible message.
func (c *eligibleChecker) ready(in *model.Instance, now int64) string {
	for _, r := range in.Queue {
		if r.VisibleMs <= now {
			return model.ItemText(r) + " visible since " + c.Run.At(r.VisibleMs)
		}
	}
	return "no message is visible according to the observations"
}

func (c *eligibleChecker) activity(r *model.Row) string {
	return model.ItemText(r) + " visible since " + c.Run.At(r.VisibleMs) + ", " + c.Run.LockText(r.Lock)
}
