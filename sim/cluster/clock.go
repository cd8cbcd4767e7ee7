package cluster

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

var drawsClockSkew = drawnKindOf(faults.ClockSkew)

// setClock sets the clock of an incarnation: the one in the plan, or a wrong one if a fault happens.
func (f *fleet) setClock(n *nodeState) {
	n.clock = n.plan.Clock
	key := n.incKey.At(labelClock)
	if !f.draws(drawsClockSkew, n.plan.Name, key) {
		return
	}
	off := sim.Between(f.chooser, key.At(labelAmount), 0, 2*faults.MaxSkew) - faults.MaxSkew
	n.clock.Offset += off.Truncate(time.Millisecond)
	f.record(&Record{Kind: record.Fault, Fault: faults.ClockSkew, Node: n.number, Incarnation: n.inc, For: off})
}

func (f *fleet) clockMs(n *nodeState) int64 {
	if n.clock == (plan.Clock{}) {
		return f.nowMs()
	}
	return f.nowMs() + n.clock.Ahead(f.since()).Milliseconds()
}

// callerMs returns the time on a caller's clock. The clocks of clients and probes are correct.
func (f *fleet) callerMs(c observe.Caller) int64 {
	if c.Node == 0 {
		return f.nowMs()
	}
	return f.clockMs(f.list[c.Node-1])
}

// storeMs returns the store's time between calls: either its own time or that of the fastest clock, because work
// becomes eligible first for that clock's node.
func (f *fleet) storeMs() int64 {
	ms := f.nowMs()
	if f.plan.Store.CallersClock {
		for _, n := range f.list {
			if n.machine != nil {
				ms = max(ms, f.clockMs(n))
			}
		}
	}
	return ms
}

// byClock returns a caller's handle to a store that uses its callers' clocks: each call happens at the time on the
// caller's clock.
func (w *World) byClock(p engine.Provider, caller observe.Caller) engine.Provider {
	return call.Through(p.Name(), p.Version(), true, func(ctx context.Context, c call.Call) call.Answer {
		w.store.SetNow(w.fleet.callerMs(caller))
		a := call.Perform(ctx, p, c)
		w.store.SetNow(w.fleet.storeMs())
		return a
	})
}

var labelClock = sim.NewLabel("clock")
