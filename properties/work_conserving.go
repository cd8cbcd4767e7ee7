package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/sim/cluster"
)

// workConserving checks S22: a fetch answers "nothing", or stays parked past its cadence, only while nothing is eligible
// for it. What is eligible, the model says: the store under test is asked nothing, so that what its index has lost is seen.
//
// Parked fetches that ask for the same form a group: one of them at a time is tried, so the group is late when something
// has been eligible for a whole cadence and none of them was tried since. A paused node tries nothing, and is not judged.
type workConserving struct {
	base
	groups  []fetchGroup
	waiting int
	// instances and rows are what may have become eligible or ceased to be, in order of change; sessions counts the
	// changes of sessions. A group remembers how far it has read.
	instances []*instanceState
	rows      []*rowState
	sessions  uint64
	changed   bool // since the last look
	// lookAtMs is when it is worth looking again by time alone: the earliest of the groups.
	lookAtMs int64
}

// fetchGroup are the parked fetches that ask for the same.
type fetchGroup struct {
	work   bool
	filter *engine.CapabilityFilter
	tags   engine.TagFilter
	// owners says that each names an owner of sessions, who may find what others may not.
	owners  bool
	waiters []waiter
	// since is when something became eligible, or a waiter was last tried or came; 0 while nothing is eligible.
	sinceMs  int64
	triedMs  int64
	reported bool
	lookAtMs int64 // when to judge the group again though its queue has not changed
	// instance or row is what was eligible at the last look, nil if nothing was; then nothing that had not changed before
	// the change numbered read, in the list of its queue, is eligible before atMs. stale says that this is not known.
	instance *instanceState
	row      *rowState
	read     int
	atMs     int64
	stale    bool
	sessions uint64 // changes of sessions at the last look
}

// waiter is a parked fetch.
type waiter struct {
	call                uint64
	node, incarnation   uint32
	cadenceMs, parkedMs int64
	paused              bool
	session             *engine.SessionFetchConfig
}

// changesMax bounds how many changes are remembered for groups at which nobody looks.
const changesMax = 1024

// wakeMarginMs is what rounding to whole milliseconds may add to a cadence.
const wakeMarginMs = 2

func newWorkConserving(m *run) checker { return &workConserving{base: base{m}, lookAtMs: neverMs} }

func (c *workConserving) observes() []engine.ObservationKind {
	return []engine.ObservationKind{
		engine.ObsRowInserted, engine.ObsRowRemoved, engine.ObsRowRestored, engine.ObsRowDelayed, engine.ObsLockTaken, engine.ObsLockExtended,
		engine.ObsLockReleased, engine.ObsInstanceCreated, engine.ObsInstanceRemoved, engine.ObsPointerSet, engine.ObsExecutionCreated,
		engine.ObsExecutionRemoved, engine.ObsPinSet, engine.ObsEventAppended, engine.ObsEventRemoved, engine.ObsDamaged, engine.ObsSessionSet,
		engine.ObsSessionRemoved,
	}
}

// observe notes what may have become eligible or ceased to be.
func (c *workConserving) observe(o *engine.Observation) {
	c.changed = true
	switch {
	case o.Kind == engine.ObsSessionSet || o.Kind == engine.ObsSessionRemoved:
		c.sessions++
	case o.Queue == engine.QueueWorker:
		c.rows = append(c.rows, c.m.store.row(o.Message))
	default:
		if in := c.m.store.instance(o.Instance); len(c.instances) == 0 || c.instances[len(c.instances)-1] != in {
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

func (c *workConserving) records() []cluster.RecordKind {
	return []cluster.RecordKind{
		cluster.RecCallExecuted, cluster.RecParked, cluster.RecUnparked, cluster.RecWoken, cluster.RecNodePaused, cluster.RecNodeResumed,
	}
}

func (c *workConserving) record(r *cluster.Record) {
	switch r.Kind {
	case cluster.RecCallExecuted:
		if r.Outcome == engine.OutcomeNothing {
			c.onNothing(r)
		}
	case cluster.RecParked:
		c.onParked(r)
	case cluster.RecUnparked, cluster.RecWoken:
		c.onLeft(r)
	case cluster.RecNodePaused, cluster.RecNodeResumed:
		for i := range c.groups {
			for j := range c.groups[i].waiters {
				if w := &c.groups[i].waiters[j]; w.node == r.Node && w.incarnation == r.Incarnation {
					w.paused = r.Kind == cluster.RecNodePaused
				}
			}
			c.groups[i].triedMs = r.AtMs
			c.lookAgain(&c.groups[i], r.AtMs)
		}
	}
}

// onNothing judges a fetch that found nothing, at the instant at which it did.
func (c *workConserving) onNothing(r *cluster.Record) {
	g := c.group(r.Request)
	if g == nil {
		return
	}
	if g.work {
		g.stale = g.stale || g.owners
		if row, _ := c.findWork(g, r.Request.(call.FetchWorkItem).Session, r.AtMs); row != nil {
			c.m.safety("S22", r.Node, row.instance.no, "the fetch of %s (call %d) answered nothing although activity message %d of %s is eligible: %s",
				c.m.nodeName(r.Node), r.Call, row.no, row.instance.name, c.activity(row))
		}
		return
	}
	if in, _ := c.findInstance(g, r.AtMs); in != nil {
		c.m.safety("S22", r.Node, in.no, "the fetch of %s (call %d, filter %s) answered nothing although %s is eligible: pin %s, %s, %s",
			c.m.nodeName(r.Node), r.Call, g.filter, in.name, pinText(in.pin()), c.ready(in, r.AtMs), c.m.lockText(in.lock))
		return
	}
	if !g.filter.Admits(nil) {
		return
	}
	for _, in := range c.m.store.bare {
		if c.m.store.orphaned(in, r.AtMs) {
			c.m.safety("S22", r.Node, in.no, "a fetch of %s (call %d) answered nothing and left the orphaned queue messages of %s where they are: expected a fetch to drop them",
				c.m.nodeName(r.Node), r.Call, in.name)
			return
		}
	}
}

// findInstance is an instance that is eligible for the fetches of a group, nil if there is none; then it says when time
// alone may bring one.
func (c *workConserving) findInstance(g *fetchGroup, nowMs int64) (*instanceState, int64) {
	had := g.instance
	if had != nil {
		if ok, _ := c.m.store.eligible(had, g.filter, nowMs); ok && !g.stale {
			return had, nowMs
		}
	}
	list := c.m.store.queued
	if !g.stale && had == nil && nowMs < g.atMs {
		list = c.instances[g.read:] // nothing else can have become eligible
	} else {
		g.atMs = neverMs
	}
	g.instance, g.stale, g.read = nil, false, len(c.instances)
	for _, in := range list {
		ok, at := c.m.store.eligible(in, g.filter, nowMs)
		if ok {
			g.instance = in
			return in, nowMs
		}
		g.atMs = min(g.atMs, at)
	}
	return nil, g.atMs
}

// findWork is the same for activities, and for one of the group's fetches.
func (c *workConserving) findWork(g *fetchGroup, session *engine.SessionFetchConfig, nowMs int64) (*rowState, int64) {
	had := g.row
	if had != nil {
		if ok, _ := c.m.store.eligibleWork(had, session, g.tags, nowMs); ok && !g.stale {
			return had, nowMs
		}
	}
	list := c.m.store.work
	if !g.stale && had == nil && nowMs < g.atMs {
		list = c.rows[g.read:]
	} else {
		g.atMs = neverMs
	}
	g.row, g.stale, g.read = nil, false, len(c.rows)
	for _, r := range list {
		ok, at := c.m.store.eligibleWork(r, session, g.tags, nowMs)
		if ok {
			g.row = r
			return r, nowMs
		}
		g.atMs = min(g.atMs, at)
	}
	return nil, g.atMs
}

func (c *workConserving) onParked(r *cluster.Record) {
	g := c.group(r.Request)
	if g == nil {
		return
	}
	w := waiter{call: r.Call, node: r.Node, incarnation: r.Incarnation, parkedMs: r.AtMs, cadenceMs: r.Cadence.Milliseconds(), paused: c.m.w.Node(r.Node).Paused}
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

// onLeft takes a fetch out that is tried again or taken back.
func (c *workConserving) onLeft(r *cluster.Record) {
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

// lookAgain has the group judged at that time, if not before.
func (c *workConserving) lookAgain(g *fetchGroup, atMs int64) {
	g.lookAtMs = min(g.lookAtMs, atMs)
	c.lookAtMs = min(c.lookAtMs, atMs)
}

// group is the group of a request, nil for what is no fetch.
func (c *workConserving) group(q call.Call) *fetchGroup {
	var want fetchGroup
	switch q := q.(type) {
	case call.FetchOrchestrationItem:
		want.filter = q.Filter
	case call.FetchWorkItem:
		want.work, want.tags, want.owners = true, q.Tags, q.Session != nil
	default:
		return nil
	}
	for i := range c.groups {
		if g := &c.groups[i]; g.work == want.work && sameFilter(g.filter, want.filter) && g.tags.Mode == want.tags.Mode && slices.Equal(g.tags.Tags, want.tags.Tags) && g.owners == want.owners {
			return g
		}
	}
	want.stale = true
	c.groups = append(c.groups, want)
	return &c.groups[len(c.groups)-1]
}

func sameFilter(a, b *engine.CapabilityFilter) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return slices.Equal(a.SupportedVersions, b.SupportedVersions)
}

// afterStep judges the groups whose queue has changed, and those for which a time has come that matters.
func (c *workConserving) afterStep() {
	now := c.m.w.NowMs()
	if c.waiting == 0 || !c.changed && now < c.lookAtMs {
		return
	}
	c.changed, c.lookAtMs = false, neverMs
	for i := range c.groups {
		g := &c.groups[i]
		if now >= g.lookAtMs || c.moved(g) {
			g.lookAtMs = neverMs
			c.judge(g, now)
		}
		c.lookAtMs = min(c.lookAtMs, g.lookAtMs)
	}
}

// moved says whether the group's queue has changed since it was looked at.
func (c *workConserving) moved(g *fetchGroup) bool {
	switch {
	case g.stale:
		return true
	case g.work:
		return g.read < len(c.rows) || g.owners && g.sessions != c.sessions
	}
	return g.read < len(c.instances)
}

func (c *workConserving) judge(g *fetchGroup, now int64) {
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
	due := max(g.sinceMs, g.triedMs) + cadence + wakeMarginMs
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
		c.m.safety("S22", w.node, in.no, "%d fetches of activities stay parked, the first that of %s, although message %d of %s has been eligible since %s: bound %s = %s poll cadence + %s rounding, overdue by %s. %s",
			len(g.waiters), c.m.nodeName(w.node), row.no, in.name, c.m.at(g.sinceMs), spanText(cadence+wakeMarginMs), spanText(cadence), spanText(wakeMarginMs),
			spanText(now-due), c.activity(row))
		return
	}
	c.m.safety("S22", w.node, in.no, "%d fetches with filter %s stay parked, the first that of %s, although %s has been eligible since %s: bound %s = %s poll cadence + %s rounding, overdue by %s. Its pin is %s, %s, %s",
		len(g.waiters), g.filter, c.m.nodeName(w.node), in.name, c.m.at(g.sinceMs), spanText(cadence+wakeMarginMs), spanText(cadence), spanText(wakeMarginMs),
		spanText(now-due), pinText(in.pin()), c.ready(in, now), c.m.lockText(in.lock))
}

// next is what is eligible for one of the group's fetches, with its row if it is an activity, or when something may be.
func (c *workConserving) next(g *fetchGroup, nowMs int64) (*instanceState, *rowState, int64) {
	if !g.work {
		in, at := c.findInstance(g, nowMs)
		return in, nil, at
	}
	g.sessions = c.sessions
	owned := g.owners && (len(c.m.store.sessions) > 0 || c.m.store.sessionWork > 0)
	at := int64(neverMs)
	for i := range g.waiters {
		w := &g.waiters[i]
		if w.paused {
			continue
		}
		g.stale = g.stale || owned
		row, next := c.findWork(g, w.session, nowMs)
		if row != nil {
			return row.instance, row, nowMs
		}
		at = min(at, next)
		if !owned {
			break // all ask for the same
		}
	}
	return nil, nil, at
}

// ready names the first visible message of an instance.
func (c *workConserving) ready(in *instanceState, now int64) string {
	for _, r := range in.queue {
		if r.visibleMs <= now {
			return itemText(r) + " visible since " + c.m.at(r.visibleMs)
		}
	}
	return "no message is visible by its observations"
}

func (c *workConserving) activity(r *rowState) string {
	return itemText(r) + " visible since " + c.m.at(r.visibleMs) + ", " + c.m.lockText(r.lock)
}
