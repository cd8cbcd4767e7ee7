package liveness

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// This file has the obligations for work whose holder lost its lock (L08), and for a cluster that has been upgraded
// (L09). Both are checked together with the other obligations and use the same bounds: once work is eligible, a node
// that admits it takes it within deliveryBound.

// reviveChecker checks the part of L08 that requires an expired lock to stay expired. Otherwise, the work of a dead or
// stalled holder does not become eligible when its lock expires.
type reviveChecker struct{ check.Base }

func newReviveChecker(m *check.Run) check.Checker {
	return &reviveChecker{check.Base{Run: m, OnObserve: check.SetOf(observe.LockExtended)}}
}

func (k *reviveChecker) Observe(o *observe.Observation) {
	if o.Undo {
		return
	}
	was := k.Run.Model.LockBefore(o)
	if was.Token == "" || was.Live(o.AtMs) {
		return
	}
	k.Run.Liveness("L08", was.Holder.Node, o.Instance, "the lock of %s (%s) had expired, but at %s it was extended until %s: expected the work under it to be eligible from its end on",
		k.Run.Model.Name(o.Instance), k.Run.LockText(*was), k.Run.At(o.AtMs), k.Run.At(o.UntilMs))
}

// recovered checks that a node takes an instance again after its lock has expired (L08). The instance always has
// another pending obligation, with a longer bound.
func (c *obligations) recovered(in *model.Instance, input boundInput, sinceMs int64) {
	mine := c.live.Instance(in.No)
	if in.Lock.Token == "" || in.Lock.Live(c.now) || mine.RecoverReported {
		return
	}
	b := deliveryBound(input)
	from := max(c.eligibleMs(in), c.live.PhaseMs, sinceMs, in.Lock.UntilMs)
	if c.now-b.ms <= from {
		return
	}
	mine.RecoverReported = true
	c.instance("L08", in.Lock.Holder.Node, in,
		"%s was held (%s) and has been eligible since the lock expired, but no node has taken it again: counted from %s, bound %s, overdue by %s. Live nodes: %s",
		in.Name, c.Run.LockText(in.Lock), c.Run.At(from), b, pretty.Duration(c.now-from-b.ms), c.live.WhyNot(in))
}

// visibleSince returns the time at which the instance's first visible message became visible, or NeverMs if it has none
// now.
func (c *obligations) visibleSince(in *model.Instance) int64 {
	since := int64(model.NeverMs)
	for _, r := range in.Queue {
		if r.VisibleMs <= c.now {
			since = min(since, r.VisibleMs)
		}
	}
	return since
}

// eligibleMs returns from when deliveryBound counts for an instance: its work is visible, at the head of the line, and in
// no probe's hands. The delay with which a node gives work back that it cannot run delays this, too. It returns NeverMs if
// no message is visible now.
func (c *obligations) eligibleMs(in *model.Instance) int64 {
	return max(c.live.RecoveryMs, c.visibleSince(in), c.live.Instance(in.No).OutsideMs, c.movedMs(in.Queue))
}

// converge determines the time from which every node that is up has run the highest build ever run, with that build's
// own range. It waits for core nodes that are not up yet.
func (c *obligations) converge() {
	highest := (*engine.Build)(nil)
	for i := range c.Run.Model.Nodes {
		for j := range c.Run.Model.Nodes[i].Incarnations {
			if b := c.Run.Model.Nodes[i].Incarnations[j].Build; b != nil && (highest == nil || b.Version.Compare(highest.Version) > 0) {
				highest = b
			}
		}
	}
	all := highest != nil
	for i := range c.live.Nodes {
		n := &c.live.Nodes[i]
		switch {
		case n.Live():
			all = all && n.Build.Version.Compare(highest.Version) == 0 && n.Options.SupportedReplayVersions == nil
		case n.Up || c.Run.World.Node(n.Number).Core:
			all = false
		}
	}
	switch {
	case !all:
		c.convergedMs = 0
	case c.convergedMs == 0:
		c.convergedMs, c.highest = c.now, highest
	}
}

// everRun reports whether any node in the run had the build that an execution is pinned to.
func (c *obligations) everRun(pin *engine.Version) bool {
	for i := range c.Run.Model.Nodes {
		for j := range c.Run.Model.Nodes[i].Incarnations {
			if b := c.Run.Model.Nodes[i].Incarnations[j].Build; b != nil && b.Version.Compare(*pin) == 0 {
				return true
			}
		}
	}
	return false
}

// converged checks that after an upgrade, filters exclude no work, and no work waits for a build that is gone (L09).
// Nodes must take work that any build in the run began, unless the highest build has dropped that pin from its range.
// If a live node admits the instance, an obligation is already pending.
func (c *obligations) converged(in *model.Instance, input boundInput) {
	pin, mine := in.Pin(), c.live.Instance(in.No)
	if c.convergedMs == 0 || pin == nil || mine.ConvergeReported || in.Locked(c.now) || !model.Within(&c.highest.DefaultRange, pin) || !c.everRun(pin) {
		return
	}
	b := deliveryBound(input)
	from := max(c.eligibleMs(in), c.convergedMs, in.Lock.UntilMs, mine.ProgressMs)
	if c.now-b.ms <= from {
		return
	}
	mine.ConvergeReported = true
	c.instance("L09", 0, in,
		"all nodes run %s, the highest build of the run, since %s or before, but %s (pin %s) still waits: visible since %s, counted from %s, bound %s, overdue by %s. Live nodes: %s",
		c.highest.Name(), c.Run.At(c.convergedMs), in.Name, model.PinText(pin), c.Run.At(c.visibleSince(in)), c.Run.At(from), b, pretty.Duration(c.now-from-b.ms), c.live.WhyNot(in))
}
