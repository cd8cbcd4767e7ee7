package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// This file has what is asked of work that nobody holds any more (L08) and of a cluster that has been upgraded (L09).
// Both are looked at with the other obligations, and share their bounds: from the moment at which work can be taken, a
// node that admits it takes it within the bound of a delivery.

// reviveChecker asks that a lock that ran out stays out: else what a dead or stalled holder had is not eligible at its
// expiry (L08).
type reviveChecker struct{ base }

func newReviveChecker(m *run) checker { return &reviveChecker{base{m}} }

func (*reviveChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsLockExtended}
}

func (*reviveChecker) records() []cluster.RecordKind { return nil }

func (k *reviveChecker) observe(o *engine.Observation) {
	if o.Undo {
		return
	}
	var was lockState
	if o.Message != 0 {
		was = k.m.store.row(o.Message).before(o.Call).lock
	} else {
		was = k.m.store.instance(o.Instance).before(o.Call).lock
	}
	if was.token == "" || was.live(o.AtMs) {
		return
	}
	k.m.liveness("L08", was.holder.Node, o.Instance, "the lock of %s (%s) had run out, and at %s it was extended until %s: expected what it held to be eligible from its end on",
		k.m.store.name(o.Instance), k.m.lockText(was), k.m.at(o.AtMs), k.m.at(o.UntilMs))
}

// recovered judges that an instance whose lock ran out is taken again (L08). It is open already, for a longer time.
func (c *obligations) recovered(in *instanceState, input boundInput, sinceMs int64) {
	mine := c.live.instance(in.no)
	if in.lock.token == "" || in.lock.live(c.now) || mine.recoverReported {
		return
	}
	visible := c.visibleSince(in)
	if visible == neverMs {
		return
	}
	b := deliveryBound(input)
	from := max(c.live.calmMs, c.live.phaseMs, sinceMs, in.lock.untilMs, mine.outsideMs, visible)
	if c.now <= from+b.ms {
		return
	}
	mine.recoverReported = true
	c.m.liveness("L08", in.lock.holder.Node, in.no,
		"%s was held (%s) and is eligible since, but nobody has taken it again: counted from %s, bound %s, overdue by %s. Live nodes: %s",
		in.name, c.m.lockText(in.lock), c.at(from), b, spanText(c.now-from-b.ms), c.live.whyNot(in))
}

// visibleSince is since when the instance has something to deliver, neverMs if it has nothing now.
func (c *obligations) visibleSince(in *instanceState) int64 {
	since := int64(neverMs)
	for _, r := range in.queue {
		if r.visibleMs <= c.now {
			since = min(since, r.visibleMs)
		}
	}
	return since
}

// converge finds out since when every node that is up runs the highest build that was ever run, with that build's own
// range. Core nodes that are not up yet are waited for.
func (c *obligations) converge() {
	highest := (*engine.Build)(nil)
	for i := range c.m.store.nodes {
		for j := range c.m.store.nodes[i].incarnations {
			if b := c.m.store.nodes[i].incarnations[j].build; b != nil && (highest == nil || b.Version.Compare(highest.Version) > 0) {
				highest = b
			}
		}
	}
	all := highest != nil
	for i := range c.live.nodes {
		n := &c.live.nodes[i]
		switch {
		case n.live():
			all = all && n.build.Version.Compare(highest.Version) == 0 && n.options.SupportedReplayVersions == nil
		case n.up || c.m.w.Node(n.number).Core:
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

// everRun says whether some node of the run was of the build that an execution is pinned to.
func (c *obligations) everRun(pin *engine.Version) bool {
	for i := range c.m.store.nodes {
		for j := range c.m.store.nodes[i].incarnations {
			if b := c.m.store.nodes[i].incarnations[j].build; b != nil && b.Version.Compare(*pin) == 0 {
				return true
			}
		}
	}
	return false
}

// converged judges that after an upgrade nothing is filtered any more and nothing waits for a build that is gone (L09):
// what any build of the run has begun is taken, if the highest build has not dropped that pin from its range. It is open
// already where a live node admits it.
func (c *obligations) converged(in *instanceState, input boundInput) {
	pin, mine := in.pin(), c.live.instance(in.no)
	if c.convergedMs == 0 || pin == nil || mine.convergeReported || in.locked(c.now) || !c.highest.DefaultRange.Contains(*pin) || !c.everRun(pin) {
		return
	}
	visible := c.visibleSince(in)
	if visible == neverMs {
		return
	}
	b := deliveryBound(input)
	from := max(c.live.calmMs, c.convergedMs, visible, in.lock.untilMs, mine.progressMs)
	if c.now <= from+b.ms {
		return
	}
	mine.convergeReported = true
	c.m.liveness("L09", 0, in.no,
		"all nodes run %s, the highest build of the run, since %s or before, and %s (pin %s) still waits: visible since %s, counted from %s, bound %s, overdue by %s. Live nodes: %s",
		c.highest.Name(), c.at(c.convergedMs), in.name, pinText(pin), c.at(visible), c.at(from), b, spanText(c.now-from-b.ms), c.live.whyNot(in))
}
