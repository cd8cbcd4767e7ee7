package properties

import (
	"math"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// delayChecker asks that delays are kept: S15. It asks so of the row's time, when an abandon, an enqueue or an ack sets
// it, and of the delivery.
type delayChecker struct{ base }

func newDelayChecker(m *run) checker { return &delayChecker{base{m}} }

func (*delayChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*delayChecker) records() []cluster.RecordKind { return nil }

func (d *delayChecker) observe(o *engine.Observation) {
	c := d.m.store.call(o.Call)
	if c == nil || o.Outcome != engine.OutcomeOK {
		return
	}
	switch c.kind {
	case engine.CallFetchOrchestrationItem, engine.CallFetchWorkItem:
		for _, no := range c.messages {
			if r := d.m.store.row(no); r.before(c.id).visibleMs > o.AtMs {
				d.report(c, r, "was delivered at "+d.m.at(o.AtMs), r.before(c.id).visibleMs)
				return
			}
		}
	case engine.CallAbandonOrchestrationItem:
		in := heldBy(c)
		if in == nil || in.batchToken != c.request.Token || c.request.Delay <= 0 {
			return
		}
		for _, no := range in.batch {
			if r := d.m.store.row(no); r.delivered == in.batchCall && !d.keeps(c, r, after(o.AtMs, c.request.Delay)) {
				return
			}
		}
	case engine.CallAbandonWorkItem:
		for _, r := range c.rows {
			if r.queue == engine.QueueWorker && r.was.lock.token == c.request.Token && c.request.Delay > 0 && !d.keeps(c, r, after(o.AtMs, c.request.Delay)) {
				return
			}
		}
	case engine.CallEnqueueForOrchestrator:
		for _, r := range c.rows {
			if r.insertedBy == c.id && c.request.Delay > 0 && !d.keeps(c, r, after(o.AtMs, c.request.Delay)) {
				return
			}
		}
	case engine.CallAckOrchestrationItem:
		if c.inserted[engine.QueueOrchestrator] == 0 {
			return
		}
		for _, r := range c.rows {
			if r.insertedBy == c.id && r.kind == engine.ItemTimerFired && !d.keeps(c, r, r.fireAtMs) {
				return
			}
		}
	}
}

// keeps reports a queued message that will be visible too early.
func (d *delayChecker) keeps(c *callState, r *rowState, wantMs int64) bool {
	if !r.present || r.visibleMs >= wantMs {
		return true
	}
	d.report(c, r, "becomes visible at "+d.m.at(r.visibleMs), wantMs)
	return false
}

func (d *delayChecker) report(c *callState, r *rowState, seen string, wantMs int64) {
	d.m.violate(finding{
		property: "S15", class: cluster.ClassSafety, node: c.caller.Node, instance: r.instance.no, item: itemText(r),
		message: itemText(r) + " " + seen + " (" + c.kind.String() + " by " + d.m.who(c.caller) + "): expected not before " + d.m.at(wantMs),
	})
}

// after is a time some whole milliseconds later, saturating.
func after(nowMs int64, d time.Duration) int64 {
	if ms := d.Milliseconds(); nowMs <= math.MaxInt64-ms {
		return nowMs + ms
	}
	return math.MaxInt64
}
