package safety

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/internal/span"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// eligibleChecker checks rule S22: a fetch returns nothing, or stays parked beyond its cadence, only while no work is
// eligible for it. It asks the model, not the store, and so notices rows that the index has lost.
//
// Parked fetches with the same request form a group. The store tries one at a time, so the group is late once something
// has been eligible for a whole cadence without a try. A paused node tries nothing and is not judged.
type eligibleChecker struct {
	check.Base
	groups  []fetchGroup
	waiting int
	// instances and rows list what may have become eligible or ineligible, in the order of the changes. sessions counts
	// the changes to sessions. Each group remembers how far it has read these lists.
	instances []*model.Instance
	rows      []*model.Row
	sessions  uint64
	changed   bool // whether anything has changed since the last look
	// lookAtMs is the earliest time at which some group must be judged even if nothing has changed.
	lookAtMs int64
}

// fetchGroup holds the parked fetches that have the same request.
type fetchGroup struct {
	work   bool
	filter *engine.CapabilityFilter
	tags   engine.TagFilter
	// owners is set if the fetches name a session owner and may therefore find work that others may not.
	owners  bool
	waiters []waiter
	// sinceMs is when something became eligible or a waiter was last added or tried, or 0 if nothing is eligible.
	sinceMs  int64
	triedMs  int64
	reported bool
	lookAtMs int64 // when to judge the group again even if its queue has not changed
	// instance or row is what was eligible at the last look. If both are nil, only instances that changed after change
	// number read in their list can become eligible before atMs, unless stale is set.
	instance *model.Instance
	row      *model.Row
	read     int
	atMs     int64
	stale    bool
	sessions uint64 // the count of session changes at the last look
}

// waiter is a parked fetch.
type waiter struct {
	call                uint64
	node, incarnation   uint32
	cadenceMs, parkedMs int64
	paused              bool
	session             *engine.SessionFetchConfig
}

// changesMax limits how many changes are kept for groups that are not currently judged.
const changesMax = 1024

// wakeMarginMs is how much rounding to whole milliseconds may add to a cadence.
const wakeMarginMs = 2

func newEligibleChecker(m *check.Run) check.Checker {
	return &eligibleChecker{Base: check.Base{Run: m}, lookAtMs: model.NeverMs}
}

func (c *eligibleChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(
		observe.RowInserted, observe.RowRemoved, observe.RowRestored, observe.RowDelayed, observe.LockTaken, observe.LockExtended,
		observe.LockReleased, observe.InstanceCreated, observe.InstanceRemoved, observe.PointerSet, observe.ExecutionCreated,
		observe.ExecutionRemoved, observe.PinSet, observe.EventAppended, observe.EventRemoved, observe.Damaged, observe.SessionSet,
		observe.SessionRemoved,
	)
}

// Observe records what may have become eligible or ineligible.
func (c *eligibleChecker) Observe(o *observe.Observation) {
	c.changed = true
	switch {
	case o.Kind == observe.SessionSet || o.Kind == observe.SessionRemoved:
		c.sessions++
	case o.Queue == observe.QueueWorker:
		c.rows = append(c.rows, c.Run.Model.Row(o.Message))
	default:
		if in := c.Run.Model.Instance(o.Instance); len(c.instances) == 0 || c.instances[len(c.instances)-1] != in {
			c.instances = append(c.instances, in)
		}
	}
	if len(c.instances) > changesMax || len(c.rows) > changesMax {
		c.instances, c.rows = c.instances[:0], c.rows[:0]
		for i := range c.groups {
			c.groups[i].stale = true
		}
	}
}

func (c *eligibleChecker) Records() check.Set[record.Kind] {
	return check.SetOf(
		record.CallExecuted, record.Parked, record.Unparked, record.Woken, record.NodePaused, record.NodeResumed,
	)
}

func (c *eligibleChecker) Record(r *cluster.Record) {
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
			c.groups[i].triedMs = r.AtMs
			c.lookAgain(&c.groups[i], r.AtMs)
		}
	}
}

// onNothing judges a fetch that found nothing, at the moment of its answer.
func (c *eligibleChecker) onNothing(r *cluster.Record) {
	g := c.group(r.Request)
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
	had := g.instance
	if had != nil {
		if ok, _ := c.Run.Model.Eligible(had, g.filter, nowMs); ok && !g.stale {
			return had, nowMs
		}
	}
	list := c.Run.Model.Queued
	if !g.stale && had == nil && nowMs < g.atMs {
		list = c.instances[g.read:] // no other instance can have become eligible
	} else {
		g.atMs = model.NeverMs
	}
	g.instance, g.stale, g.read = nil, false, len(c.instances)
	for _, in := range list {
		ok, at := c.Run.Model.Eligible(in, g.filter, nowMs)
		if ok {
			g.instance = in
			return in, nowMs
		}
		g.atMs = min(g.atMs, at)
	}
	return nil, g.atMs
}

// findWork is like findInstance, for activities and for one of the group's fetches.
func (c *eligibleChecker) findWork(g *fetchGroup, session *engine.SessionFetchConfig, nowMs int64) (*model.Row, int64) {
	had := g.row
	if had != nil {
		if ok, _ := c.Run.Model.EligibleWork(had, session, g.tags, nowMs); ok && !g.stale {
			return had, nowMs
		}
	}
	list := c.Run.Model.Work
	if !g.stale && had == nil && nowMs < g.atMs {
		list = c.rows[g.read:]
	} else {
		g.atMs = model.NeverMs
	}
	g.row, g.stale, g.read = nil, false, len(c.rows)
	for _, r := range list {
		ok, at := c.Run.Model.EligibleWork(r, session, g.tags, nowMs)
		if ok {
			g.row = r
			return r, nowMs
		}
		g.atMs = min(g.atMs, at)
	}
	return nil, g.atMs
}

func (c *eligibleChecker) onParked(r *cluster.Record) {
	g := c.group(r.Request)
	if g == nil {
		return
	}
	w := waiter{call: r.Call, node: r.Node, incarnation: r.Incarnation, parkedMs: r.AtMs, cadenceMs: r.Cadence.Milliseconds(), paused: c.Run.World.Node(r.Node).Paused}
	if q, ok := r.Request.(call.FetchWorkItem); ok {
		w.session = q.Session
	}
	g.waiters = append(g.waiters, w)
	if len(g.waiters) == 1 {
		g.sinceMs, g.triedMs = 0, r.AtMs
	}
	c.waiting++
	c.lookAgain(g, r.AtMs)
}

// onLeft removes a fetch that is being retried or has been withdrawn.
func (c *eligibleChecker) onLeft(r *cluster.Record) {
	g := c.group(r.Request)
	if g == nil {
		return
	}
	for i := range g.waiters {
		if g.waiters[i].call == r.Call {
			g.waiters = slices.Delete(g.waiters, i, i+1)
			c.waiting--
			break
		}
	}
	g.triedMs = r.AtMs
	c.lookAgain(g, r.AtMs)
}

// lookAgain schedules the group to be judged at the given time, unless it will be judged earlier.
func (c *eligibleChecker) lookAgain(g *fetchGroup, atMs int64) {
	g.lookAtMs = min(g.lookAtMs, atMs)
	c.lookAtMs = min(c.lookAtMs, atMs)
}

// group returns the group for a request, or nil if the request is not a fetch.
func (c *eligibleChecker) group(q call.Call) *fetchGroup {
	switch q := q.(type) {
	case call.FetchOrchestrationItem:
		return c.groupOf(false, q.Filter, engine.TagFilter{}, false)
	case call.FetchWorkItem:
		return c.groupOf(true, nil, q.Tags, q.Session != nil)
	}
	return nil
}

func (c *eligibleChecker) groupOf(work bool, filter *engine.CapabilityFilter, tags engine.TagFilter, owners bool) *fetchGroup {
	for i := range c.groups {
		if g := &c.groups[i]; g.work == work && g.owners == owners && sameFilter(g.filter, filter) && g.tags.Mode == tags.Mode && slices.Equal(g.tags.Tags, tags.Tags) {
			return g
		}
	}
	c.groups = append(c.groups, fetchGroup{work: work, filter: filter, tags: tags, owners: owners, stale: true})
	return &c.groups[len(c.groups)-1]
}

func sameFilter(a, b *engine.CapabilityFilter) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return slices.Equal(a.SupportedVersions, b.SupportedVersions)
}

// AfterStep judges the groups whose queue has changed and those that are due.
func (c *eligibleChecker) AfterStep() {
	if c.waiting == 0 || !c.changed && c.Run.World.NowMs() < c.lookAtMs {
		return
	}
	c.changed, c.lookAtMs = false, model.NeverMs
	now, skewed := c.Run.World.NowMs(), c.Run.SkewMs() > 0
	for i := range c.groups {
		g := &c.groups[i]
		g.stale = g.stale || skewed
		if now >= g.lookAtMs || c.moved(g) {
			g.lookAtMs = model.NeverMs
			c.judge(g, now)
		}
		c.lookAtMs = min(c.lookAtMs, g.lookAtMs)
	}
}

// moved reports whether the group's queue has changed since the last look.
func (c *eligibleChecker) moved(g *fetchGroup) bool {
	switch {
	case g.stale:
		return true
	case g.work:
		return g.read < len(c.rows) || g.owners && g.sessions != c.sessions
	}
	return g.read < len(c.instances)
}

func (c *eligibleChecker) judge(g *fetchGroup, now int64) {
	cadence := int64(-1)
	for i := range g.waiters {
		if w := &g.waiters[i]; !w.paused {
			cadence = max(cadence, w.cadenceMs)
		}
	}
	if cadence < 0 {
		return
	}
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
			len(g.waiters), c.Run.NodeName(w.node), row.No, in.Name, c.Run.At(g.sinceMs), span.Text(cadence+wakeMarginMs), span.Text(cadence), span.Text(wakeMarginMs),
			span.Text(now-due), c.activity(row))
		return
	}
	c.Run.Safety("S22", w.node, in.No, "%d fetches with filter %s stay parked, the first that of %s, although %s has been eligible since %s: bound %s = %s poll cadence + %s rounding, overdue by %s. Its pin is %s, %s, %s",
		len(g.waiters), g.filter, c.Run.NodeName(w.node), in.Name, c.Run.At(g.sinceMs), span.Text(cadence+wakeMarginMs), span.Text(cadence), span.Text(wakeMarginMs),
		span.Text(now-due), model.PinText(in.Pin()), c.ready(in, now), c.Run.LockText(in.Lock))
}

// next returns an instance that is eligible for a group, with the row if the group fetches activities. If there is
// none, it returns the time of the next look.
func (c *eligibleChecker) next(g *fetchGroup, nowMs int64) (*model.Instance, *model.Row, int64) {
	if !g.work {
		in, at := c.findInstance(g, nowMs)
		return in, nil, at
	}
	g.sessions = c.sessions
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
