package safety

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// This file sorts the parked fetches that eligibleChecker judges into groups with the same request.

// recentGroups holds the numbers, from 1, of the groups that a node's last fetches of turns and of activities belonged
// to, and the filter of the former. Most fetches of a node are alike, so these are tried first.
type recentGroups struct {
	filter      *engine.CapabilityFilter
	turns, work int
}

// fetchGroup holds the parked fetches that have the same request.
type fetchGroup struct {
	work   bool
	filter *engine.CapabilityFilter
	tags   engine.TagFilter
	// owners is set if the fetches name a session owner and may therefore find work that others may not.
	owners  bool
	waiters []waiter
	// cadenceMs is the longest cadence of a waiter that is not paused, or -1 if there is none.
	cadenceMs int64
	// sinceMs is when something became eligible or a waiter was last added or tried, or 0 if nothing is eligible.
	sinceMs  int64
	triedMs  int64
	reported bool
	lookAtMs int64 // when to judge the group again even if its queue has not changed
	// instance or row is what was eligible at the last look. If both are nil, only instances that changed after change
	// number read in their list can become eligible before atMs, unless stale is set.
	instance *model.Instance
	row      *model.Row
	read     int // how far the group has read its list of changes
	atMs     int64
	stale    bool
	sessions uint64 // the count of session changes at the last look
}

// waiter is a parked fetch.
type waiter struct {
	call              uint64
	node, incarnation uint32
	cadenceMs         int64
	paused            bool
	session           *engine.SessionFetchConfig
}

// group returns the group for the request in a record, or nil if the request is not a fetch.
func (c *eligibleChecker) group(r *cluster.Record) *fetchGroup {
	for len(c.recent) <= int(r.Node) {
		c.recent = append(c.recent, recentGroups{})
	}
	switch q := r.Request.(type) {
	case call.FetchOrchestrationItem:
		last := &c.recent[r.Node]
		if last.turns == 0 || last.filter != q.Filter {
			last.filter, last.turns = q.Filter, c.groupOf(false, q.Filter, engine.TagFilter{}, false)
		}
		return &c.groups[last.turns-1]
	case call.FetchWorkItem:
		last := &c.recent[r.Node]
		if last.work == 0 || !c.groups[last.work-1].takes(true, nil, q.Tags, q.Session != nil) {
			last.work = c.groupOf(true, nil, q.Tags, q.Session != nil)
		}
		return &c.groups[last.work-1]
	}
	return nil
}

// groupOf returns the number of the group for a request.
func (c *eligibleChecker) groupOf(work bool, filter *engine.CapabilityFilter, tags engine.TagFilter, owners bool) int {
	for i := range c.groups {
		if c.groups[i].takes(work, filter, tags, owners) {
			return i + 1
		}
	}
	c.groups = append(c.groups, fetchGroup{work: work, filter: filter, tags: tags, owners: owners, stale: true, cadenceMs: -1})
	return len(c.groups)
}

func (g *fetchGroup) takes(work bool, filter *engine.CapabilityFilter, tags engine.TagFilter, owners bool) bool {
	return g.work == work && g.owners == owners && sameFilter(g.filter, filter) && g.tags.Mode == tags.Mode && slices.Equal(g.tags.Tags, tags.Tags)
}

func sameFilter(a, b *engine.CapabilityFilter) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return slices.Equal(a.SupportedVersions, b.SupportedVersions)
}

// setCadence updates the group's cadence after a change of its waiters.
func (g *fetchGroup) setCadence() {
	g.cadenceMs = -1
	for i := range g.waiters {
		if w := &g.waiters[i]; !w.paused {
			g.cadenceMs = max(g.cadenceMs, w.cadenceMs)
		}
	}
}
