package liveness

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
)

// This file formats messages about liveness violations. Apart from two small checks of starts, none of its code runs
// unless there is a violation.

// report reports that a message is still queued.
func (c *obligations) report(property string, in *model.Instance, r *model.Row, from int64, b bound) {
	if c.live.Contested(in) {
		return
	}
	mine := c.live.Row(r.No)
	because := map[string]string{
		"L01": "a message that no live node runs leaves the queue by poison",
		"L02": "a message that a live node runs is consumed",
		"L03": "work that waited for a node continues soon after a node appears",
		"L04": "once the awaited build is back, every stuck message leaves the queue",
	}[property]
	last := "no node decided about it"
	if mine.LastDecision != machine.DecideNone {
		last = fmt.Sprintf("last decision %s by %s", mine.LastDecision, c.Run.NodeName(mine.LastNode))
	}
	lock := ""
	if in.Locked(c.now) && r.Queue == observe.QueueOrchestrator {
		lock = fmt.Sprintf(", locked until %s", c.Run.At(in.Lock.UntilMs))
	}
	now := c.now
	later := func() string { return c.leftLater(r, now) }
	c.Run.Violate(check.Breach{Property: property, Class: cluster.ClassLiveness, Instance: in.No, Item: string(r.Kind), Node: mine.LastNode, Message: fmt.Sprintf(
		"%s: message %d (%s, %s) for %s, pin %s, is still queued: visible since %s, next visible %s%s, counted from %s, bound %s, overdue by %s; delivered %s, count %d, %s. Live nodes: %s",
		because, r.No, r.Kind, c.sender(mine.Sender), in.Name, model.PinText(in.Pin()), c.Run.At(mine.FirstVisibleMs), c.at(r.VisibleMs), lock, c.Run.At(from), b, pretty.Duration(c.now-from-b.ms),
		deliveries(mine), r.Count, last, c.live.WhyNot(in)), Later: later})
}

// leftLater says what became of an overdue message by the end of the run.
func (c *obligations) leftLater(r *model.Row, reportedMs int64) string {
	if r.Present {
		return "At the end of the run it is still queued"
	}
	return fmt.Sprintf("It left the queue %s later, at %s", pretty.Duration(c.live.Row(r.No).LeftMs-reportedMs), c.Run.At(c.live.Row(r.No).LeftMs))
}

// instance reports that an instance does not get on as it must.
func (c *obligations) instance(property string, node uint32, in *model.Instance, format string, args ...any) {
	if c.live.Contested(in) {
		return
	}
	now := c.now
	later := func() string { return c.progressLater(in, now) }
	c.Run.Violate(check.Breach{Property: property, Class: cluster.ClassLiveness, Node: node, Instance: in.No, Message: fmt.Sprintf(format, args...), Later: later})
}

// progressLater says what became of an overdue instance by the end of the run.
func (c *obligations) progressLater(in *model.Instance, reportedMs int64) string {
	mine := c.live.Instance(in.No)
	switch {
	case mine.Ended && mine.ProgressMs > reportedMs:
		return fmt.Sprintf("It ended %s later, at %s", pretty.Duration(mine.ProgressMs-reportedMs), c.Run.At(mine.ProgressMs))
	case mine.Deleted:
		return "It was deleted later"
	case mine.Ended:
		return "It ended later without a turn"
	case mine.ProgressMs > reportedMs:
		return fmt.Sprintf("It went on later, last at %s, but did not end", c.Run.At(mine.ProgressMs))
	}
	return "It made no progress after that"
}

// deliveries says how often a message was delivered. Some deliveries do not count, because an abandon took them back.
func deliveries(r *track.Row) string {
	text := pretty.Times(int(r.Deliveries + r.Returned))
	if r.Returned > 0 {
		text += fmt.Sprintf(" (%d given back uncounted)", r.Returned)
	}
	return text
}

// at returns a store time relative to the start of the run.
func (c *obligations) at(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return "at " + pretty.Duration(ms-c.Run.World.StartMs())
}

func current(in *model.Instance) string {
	if in.CurrentID == 0 {
		return in.Name + " (not begun)"
	}
	return fmt.Sprintf("%s (%s@%s, execution %d, %s, pin %s)", in.Name, in.Orchestration, in.Version, in.CurrentID, in.Status(), model.PinText(in.Pin()))
}

func (c *obligations) waits(in *model.Instance) string {
	if x := c.Run.World.Why(in.Name); x != nil {
		return ". Now " + x.Text
	}
	return ""
}

func (c *obligations) queued(in *model.Instance) string {
	var parts []string
	for _, r := range in.Queue {
		parts = append(parts, fmt.Sprintf("%s, %s, visible %s, count %d", r.Kind, c.sender(c.live.Row(r.No).Sender), c.at(r.VisibleMs), r.Count))
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
