package properties

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// This file puts liveness into words. Nothing here runs while all is well, apart from two small questions about starts.

// report reports a message that is still queued.
func (c *obligations) report(property string, in *instanceState, r *rowState, from int64, b bound) {
	mine := c.live.row(r.no)
	because := map[string]string{
		"L01": "a message that no live node runs leaves the queue by poison",
		"L02": "a message that a live node runs is consumed",
		"L03": "what waited for a node goes on soon after one appears",
		"L04": "after widening every stuck message leaves the queue",
	}[property]
	last := "nobody decided anything about it"
	if mine.lastDecision != node.DecideNone {
		last = fmt.Sprintf("last decision %s by %s", mine.lastDecision, c.m.nodeName(mine.lastNode))
	}
	lock := ""
	if in.locked(c.now) && r.queue == engine.QueueOrchestrator {
		lock = fmt.Sprintf(", locked until %s", c.at(in.lock.untilMs))
	}
	c.m.violate(finding{property: property, class: cluster.ClassLiveness, instance: in.no, item: string(r.kind), node: mine.lastNode, message: fmt.Sprintf(
		"%s: message %d (%s) of %s, pin %s, is still queued: visible since %s, now again %s%s, counted from %s, bound %s, overdue by %s; delivered %d times, count %d, %s. Live nodes: %s",
		because, r.no, r.kind, in.name, pinText(in.pin()), c.at(mine.firstVisibleMs), c.at(r.visibleMs), lock, c.at(from), b, spanText(c.now-from-b.ms),
		mine.deliveries, r.count, last, c.live.whyNot(in))})
}

// at is a store time as a time of the run.
func (c *obligations) at(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return "at " + spanText(ms-c.m.w.StartMs())
}

// queued are an instance's messages and activities in words.
func (c *obligations) queued(in *instanceState) string {
	var parts []string
	for _, r := range in.queue {
		parts = append(parts, fmt.Sprintf("%s visible %s, count %d", r.kind, c.at(r.visibleMs), r.count))
	}
	for _, r := range in.work {
		name := ""
		if w, ok := r.item.(engine.ActivityExecuteItem); ok {
			name = w.Name
		}
		parts = append(parts, fmt.Sprintf("activity %s#%d visible %s, count %d", name, r.id, c.at(r.visibleMs), r.count))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// whyNot says of each live node whether it runs an instance, and if not, why.
func (s *liveState) whyNot(in *instanceState) string {
	var parts []string
	for i := range s.nodes {
		n := &s.nodes[i]
		if !n.live() {
			continue
		}
		why := "runs it"
		switch {
		case n.options.OrchestrationConcurrency == 0:
			why = "has no slot for orchestrations"
		case !n.filter.Admits(in.pin()):
			why = fmt.Sprintf("range %s leaves pin %s out", n.filter, pinText(in.pin()))
		case !s.reads(n, in):
			why = "cannot read its history or a message"
		case s.missing(n, in) != "":
			why = "has no handler " + s.missing(n, in)
		}
		parts = append(parts, fmt.Sprintf("%s (%s) %s", s.m.nodeName(n.number), n.build.Name(), why))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, "; ")
}

// startQueued says whether a start of the instance is queued, visible or not.
func startQueued(in *instanceState) bool {
	for _, r := range in.queue {
		if isStart(r.kind) {
			return true
		}
	}
	return false
}

// waitsForStart says whether a message is input for an execution whose start is still queued.
func waitsForStart(in *instanceState, r *rowState) bool {
	return !isStart(r.kind) && (startQueued(in) || in.status() == engine.StatusContinuedAsNew)
}
