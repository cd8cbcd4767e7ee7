package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
)

// workConserving checks S22: a fetch answers "nothing", or stays parked past its cadence, only while nothing is eligible
// for it. What is eligible, the store's always-right query says, whatever rules the store itself follows.
//
// Parked fetches that ask for the same form a group: one of them at a time is tried, so the group is late when something
// has been eligible for a whole cadence and none of them was tried since. A paused node tries nothing, and is not judged.
type workConserving struct {
	base
	groups  []fetchGroup
	waiting int
	// What the last look saw, and when it is worth looking again by time alone: the earliest of the groups.
	generation uint64
	lookAtMs   int64
}

// fetchGroup are the parked fetches that ask for the same.
type fetchGroup struct {
	work   bool
	filter *engine.CapabilityFilter
	tags   engine.TagFilter
	// sessions says that each names an owner, who may find what others may not.
	sessions bool
	waiters  []waiter
	// since is when something became eligible, or a waiter was last tried or came; 0 while nothing is eligible.
	sinceMs  int64
	triedMs  int64
	reported bool
	// eligible is what the right rules said last, at the generation of the queue that it has in seen.
	eligible memprovider.Eligibility
	asked    bool
	seen     uint64
	lookAtMs int64 // when to judge the group again though its queue has not changed
}

// waiter is a parked fetch.
type waiter struct {
	call                uint64
	node, incarnation   uint32
	cadenceMs, parkedMs int64
	paused              bool
	session             *engine.SessionFetchConfig
}

// wakeMarginMs is what rounding to whole milliseconds may add to a cadence.
const wakeMarginMs = 2

func newWorkConserving(m *run) checker { return &workConserving{base: base{m}, lookAtMs: neverMs} }

func (c *workConserving) observes() []engine.ObservationKind { return nil }

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
	e, asked := c.eligible(r.Request)
	if asked && !e.Now && e.Drops {
		c.m.safety("S22", r.Node, e.Orphan, "a fetch of %s (call %d) answered nothing and left the orphaned queue messages of %s where they are: expected a fetch to drop them",
			c.m.nodeName(r.Node), r.Call, c.m.store.name(e.Orphan))
		return
	}
	if !asked || !e.Now {
		return
	}
	in := c.m.store.instance(e.Instance)
	switch q := r.Request.(type) {
	case call.FetchOrchestrationItem:
		c.m.safety("S22", r.Node, e.Instance, "the fetch of %s (call %d, filter %s) answered nothing although %s is eligible: pin %s, %s, %s",
			c.m.nodeName(r.Node), r.Call, q.Filter, in.name, pinText(in.pin()), c.ready(in, r.AtMs), c.m.lockText(in.lock))
	case call.FetchWorkItem:
		c.m.safety("S22", r.Node, e.Instance, "the fetch of %s (call %d) answered nothing although activity message %d of %s is eligible: %s",
			c.m.nodeName(r.Node), r.Call, e.Message, in.name, c.activity(e.Message))
	}
}

// eligible asks the store's right rules about a fetch.
func (c *workConserving) eligible(q call.Call) (e memprovider.Eligibility, asked bool) {
	switch q := q.(type) {
	case call.FetchOrchestrationItem:
		return c.m.w.Store().TrueNextOrchestration(q.Filter), true
	case call.FetchWorkItem:
		return c.m.w.Store().NextWork(q.Session, q.Tags), true
	}
	return e, false
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
		want.work, want.tags, want.sessions = true, q.Tags, q.Session != nil
	default:
		return nil
	}
	for i := range c.groups {
		if g := &c.groups[i]; g.work == want.work && sameFilter(g.filter, want.filter) && g.tags.Mode == want.tags.Mode && slices.Equal(g.tags.Tags, want.tags.Tags) && g.sessions == want.sessions {
			return g
		}
	}
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
	if c.waiting == 0 {
		return
	}
	now, generation := c.m.w.NowMs(), c.m.w.Store().Generation()
	if generation == c.generation && now < c.lookAtMs {
		return
	}
	c.generation, c.lookAtMs = generation, neverMs
	for i := range c.groups {
		g := &c.groups[i]
		if now >= g.lookAtMs || !g.asked || g.seen != c.generationOf(g) {
			g.lookAtMs = neverMs
			c.judge(g, now)
		}
		c.lookAtMs = min(c.lookAtMs, g.lookAtMs)
	}
}

// generationOf is the generation of the group's queue.
func (c *workConserving) generationOf(g *fetchGroup) uint64 {
	if g.work {
		return c.m.w.Store().QueueGeneration(engine.QueueWorker)
	}
	return c.m.w.Store().QueueGeneration(engine.QueueOrchestrator)
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
	e := c.next(g)
	if !e.Now {
		g.sinceMs = 0
		g.lookAtMs = e.AtMs
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
	in := c.m.store.instance(e.Instance)
	if g.work {
		c.m.safety("S22", w.node, e.Instance, "%d fetches of activities stay parked, the first that of %s, although message %d of %s has been eligible since %s: bound %s = %s poll cadence + %s rounding, overdue by %s. %s",
			len(g.waiters), c.m.nodeName(w.node), e.Message, in.name, c.m.at(g.sinceMs), spanText(cadence+wakeMarginMs), spanText(cadence), spanText(wakeMarginMs),
			spanText(now-due), c.activity(e.Message))
		return
	}
	c.m.safety("S22", w.node, e.Instance, "%d fetches with filter %s stay parked, the first that of %s, although %s has been eligible since %s: bound %s = %s poll cadence + %s rounding, overdue by %s. Its pin is %s, %s, %s",
		len(g.waiters), g.filter, c.m.nodeName(w.node), in.name, c.m.at(g.sinceMs), spanText(cadence+wakeMarginMs), spanText(cadence), spanText(wakeMarginMs),
		spanText(now-due), pinText(in.pin()), c.ready(in, now), c.m.lockText(in.lock))
}

// next asks the store's right rules about a group, if the queue has changed since they were asked last. Where there are
// sessions each waiter has an answer of its own.
func (c *workConserving) next(g *fetchGroup) memprovider.Eligibility {
	store := c.m.w.Store()
	if g.sessions && store.HasSessions() {
		e := memprovider.Eligibility{AtMs: neverMs}
		for i := range g.waiters {
			if w := &g.waiters[i]; !w.paused && !e.Now {
				if one := store.NextWork(w.session, g.tags); one.Now {
					e = one
				} else {
					e.AtMs = min(e.AtMs, one.AtMs)
				}
			}
		}
		return e
	}
	if generation := c.generationOf(g); !g.asked || g.seen != generation {
		g.asked, g.seen = true, generation
		if g.work {
			g.eligible = store.NextWork(nil, g.tags)
		} else {
			g.eligible = store.TrueNextOrchestration(g.filter)
		}
	}
	return g.eligible
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

func (c *workConserving) activity(no engine.MessageNo) string {
	r := c.m.store.row(no)
	if r == nil {
		return "no such message"
	}
	return itemText(r) + " visible since " + c.m.at(r.visibleMs) + ", " + c.m.lockText(r.lock)
}
