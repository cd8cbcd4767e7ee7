package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/cluster"
)

// coverageChecker counts what the shared state does not see.
type coverageChecker struct {
	base
	live  *liveState
	kinds []faults.Info
	pins  []*engine.Version // seen so far; the store keeps one copy of each
}

func newCoverage(m *Monitor) checker {
	kinds := faults.Kinds()
	m.coverage.faults = make([]uint64, len(kinds))
	return &coverageChecker{base: base{m}, live: liveOf(m), kinds: kinds}
}

func (c *coverageChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd, engine.ObsPinSet}
}

func (c *coverageChecker) records() []cluster.RecordKind {
	return []cluster.RecordKind{cluster.RecParked, cluster.RecWoken, cluster.RecFault, cluster.RecPhaseBegan, cluster.RecNodeDraining}
}

func (c *coverageChecker) record(r *cluster.Record) {
	switch r.Kind {
	case cluster.RecParked:
		c.m.coverage.hit(pointParked)
	case cluster.RecWoken:
		c.m.coverage.hit(pointWoken)
	case cluster.RecPhaseBegan:
		if r.Phase == cluster.PhaseRelief {
			c.m.coverage.hit(pointRelief)
		}
	case cluster.RecFault:
		for i, f := range c.kinds {
			if f.Kind == r.Fault {
				c.m.coverage.faults[i]++
			}
		}
	case cluster.RecNodeDraining:
		n := c.live.node(r.Node)
		if n == nil {
			return
		}
		for _, list := range [2][]liveSlot{n.turns, n.activities} {
			for i := range list {
				if d := &list[i].recent[list[i].last]; d.held && d.incarnation == n.incarnation {
					c.m.coverage.hit(pointDrainHolding)
				}
			}
		}
	}
}

// observe looks, at the end of a fetch, at what its filter passed over: always if an expectation asks for it, else now and
// then until it was seen. It is cheap while the filter admits every pin that there is.
func (c *coverageChecker) observe(o *engine.Observation) {
	if o.Kind == engine.ObsPinSet {
		if o.Pin != nil && !slices.ContainsFunc(c.pins, func(p *engine.Version) bool { return *p == *o.Pin }) {
			c.pins = append(c.pins, o.Pin)
		}
		return
	}
	if o.CallKind != engine.CallFetchOrchestrationItem || o.Outcome > engine.OutcomeNothing || o.Caller.Node == 0 {
		return
	}
	call := c.m.store.call(o.Call)
	if call == nil || c.admitsAll(call.request.Filter) {
		return
	}
	wanted := c.live.expect != nil && c.live.expect.wants(cluster.EventSkip)
	cover := &c.m.coverage
	cover.fetches++
	if !wanted && (cover.counts[pointFilteredOut] > 0 || cover.fetches%8 != 0 || cover.fetches > 1024 && cover.fetches%256 != 0) {
		return
	}
	for no := 1; no <= c.m.store.instanceCount(); no++ {
		in := c.m.store.instance(engine.InstanceNo(no))
		if len(in.queue) == 0 || in.pin() == nil || call.request.Filter.Admits(in.pin()) || in.locked(o.AtMs) || !in.visible(o.AtMs) {
			continue
		}
		cover.hit(pointFilteredOut)
		if !wanted {
			return
		}
		c.live.expect.skipped(o.Caller, in)
	}
}

// admitsAll says whether a filter admits every pin that was seen.
func (c *coverageChecker) admitsAll(f *engine.CapabilityFilter) bool {
	for _, p := range c.pins {
		if !f.Admits(p) {
			return false
		}
	}
	return true
}
