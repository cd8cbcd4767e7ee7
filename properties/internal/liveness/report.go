package liveness

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/span"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// This file puts liveness into words. Nothing here runs while all is well, apart from two small questions about starts.

// report reports a message that is still queued.
func (c *obligations) report(property string, in *model.Instance, r *model.Row, from int64, b bound) {
	mine := c.live.Row(r.No)
	because := map[string]string{
		"L01": "a message that no live node runs leaves the queue by poison",
		"L02": "a message that a live node runs is consumed",
		"L03": "what waited for a node goes on soon after one appears",
		"L04": "once the build that it waits for is back, every stuck message leaves the queue",
	}[property]
	last := "nobody decided anything about it"
	if mine.LastDecision != machine.DecideNone {
		last = fmt.Sprintf("last decision %s by %s", mine.LastDecision, c.Run.NodeName(mine.LastNode))
	}
	lock := ""
	if in.Locked(c.now) && r.Queue == observe.QueueOrchestrator {
		lock = fmt.Sprintf(", locked until %s", c.at(in.Lock.UntilMs))
	}
	c.Run.Violate(check.Finding{Property: property, Class: cluster.ClassLiveness, Instance: in.No, Item: string(r.Kind), Node: mine.LastNode, Message: fmt.Sprintf(
		"%s: message %d (%s) of %s, pin %s, is still queued: visible since %s, now again %s%s, counted from %s, bound %s, overdue by %s; delivered %d times, count %d, %s. Live nodes: %s",
		because, r.No, r.Kind, in.Name, model.PinText(in.Pin()), c.at(mine.FirstVisibleMs), c.at(r.VisibleMs), lock, c.at(from), b, span.Text(c.now-from-b.ms),
		mine.Deliveries, r.Count, last, c.live.WhyNot(in))})
}

// at returns a store time as a time of the run.
func (c *obligations) at(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return "at " + span.Text(ms-c.Run.World.StartMs())
}

// queued lists an instance's messages and activities in words.
func (c *obligations) queued(in *model.Instance) string {
	var parts []string
	for _, r := range in.Queue {
		parts = append(parts, fmt.Sprintf("%s visible %s, count %d", r.Kind, c.at(r.VisibleMs), r.Count))
	}
	for _, r := range in.Work {
		name := ""
		if w, ok := r.Item.(engine.ActivityExecuteItem); ok {
			name = w.Name
		}
		parts = append(parts, fmt.Sprintf("activity %s#%d visible %s, count %d", name, r.ID, c.at(r.VisibleMs), r.Count))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}
