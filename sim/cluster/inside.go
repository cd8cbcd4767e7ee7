package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/record"
)

var (
	drawsSlowCommit = drawnKindOf(faults.SlowCommit)
	drawsSlowFetch  = drawnKindOf(faults.SlowFetch)
	drawsSlowAnswer = drawnKindOf(faults.SlowAnswer)
)

// This file makes calls take time inside the store. A waiting call has arrived but has not taken effect, and other
// calls take effect in the meantime. Its caller stays connected for as long as it takes: the call deadline covers only
// the legs.

// arrive handles a call that has reached the store. The call takes effect immediately or after a wait.
func (nw *network) arrive(c *callState) {
	if c.state == callDone { // the caller has given up, so the store serves the call now or not at all
		nw.execute(c)
		return
	}
	wait := time.Duration(0)
	if isFetch(c.kind) {
		wait = nw.slow(c, drawsSlowFetch)
	} else if isQueueCall(c.kind) {
		wait = nw.slow(c, drawsSlowCommit)
	}
	serial := nw.plan.Store.Serial > 0 && isFetch(c.kind)
	if wait == 0 && !serial {
		nw.execute(c)
		return
	}
	nw.changed = true
	c.state, c.stalled = callWaiting, true
	c.arrival = nw.arrival(c)
	if wait > 0 {
		nw.kernel.After(wait, tryKey(c.key, c.tries+1).At(labelInside), event{kind: evInside, node: c.node, inc: c.inc, a: c.no})
		return
	}
	nw.queueUp(c)
}

// slow draws how long a call waits at one point inside the store; 0 means no wait.
func (nw *network) slow(c *callState, fault drawnKind) time.Duration {
	if !nw.drawn[fault].included {
		return 0
	}
	key := tryKey(c.key, c.tries+1)
	if !nw.draws(fault, c.owner.plan.Name, key) {
		return 0
	}
	d := nw.inside(key.Name(labelFault, "wait"), nw.lockTimeout(c))
	nw.record(&Record{Kind: record.Fault, Fault: fault.kind(), Node: c.node, Incarnation: c.inc, Call: c.no, CallKind: c.kind, For: d})
	return d
}

// inside draws how long a call waits inside the store: at most half of lock, or nearly as long as lock.
func (b *base) inside(key sim.Key, lock time.Duration) time.Duration {
	if sim.Pick(b.chooser, key.At(labelInside), leastOrTypical) == 0 {
		return b.around(key, lock)
	}
	return sim.Between(b.chooser, key.At(labelAmount), time.Millisecond, lock/2)
}

func (nw *network) lockTimeout(c *callState) time.Duration {
	switch c.kind {
	case observe.CallFetchWorkItem, observe.CallAckWorkItem, observe.CallRenewWorkItemLock, observe.CallAbandonWorkItem:
		return c.owner.runningOptions.WorkerLockTimeout
	}
	return c.owner.runningOptions.OrchestratorLockTimeout
}

// arrival captures what a call sees on arrival. If the store uses its callers' clocks, it does so at the time on the
// caller's clock.
func (nw *network) arrival(c *callState) *memprovider.Arrival {
	if nw.plan.Store.CallersClock {
		nw.store.SetNow(nw.fleet.callerMs(observe.Caller{Node: c.node, Incarnation: c.inc}))
		defer func() { nw.store.SetNow(nw.fleet.storeMs()) }()
	}
	var filter *engine.CapabilityFilter
	if r, ok := c.request.(call.FetchOrchestrationItem); ok {
		filter = r.Filter
	}
	return nw.store.Arrive(c.kind, call.LockToken(c.request), filter)
}

// onInside ends a call's wait: the call takes effect or joins the queue of a serial store.
func (nw *network) onInside(c *callState) {
	switch {
	case c.state != callWaiting:
	case nw.plan.Store.Serial > 0 && isFetch(c.kind):
		nw.queueUp(c)
	default:
		nw.takeEffect(c)
	}
}

// queueUp adds a fetch to the line of a store that serves one fetch at a time.
func (nw *network) queueUp(c *callState) {
	if nw.line = append(nw.line, c); len(nw.line) == 1 {
		nw.serveNext()
	}
}

func (nw *network) serveNext() {
	c := nw.line[0]
	nw.kernel.After(nw.plan.Store.Serial, tryKey(c.key, c.tries+1).At(labelInside), event{kind: evServed})
}

// onServed finishes serving the first fetch in line.
func (nw *network) onServed() {
	c := nw.line[0]
	if nw.line = nw.line[1:]; len(nw.line) > 0 {
		nw.serveNext()
	}
	if c.state == callWaiting {
		nw.takeEffect(c)
	}
}

func (nw *network) takeEffect(c *callState) {
	if !c.alive() && !sim.Chance(nw.chooser, tryKey(c.key, c.tries+1).At(labelInside).At(labelZombie), 1, 2) {
		c.state = callDone // the store has noticed that its caller is gone
		return
	}
	c.state = callSent
	nw.store.Resume(c.arrival)
	nw.execute(c)
	nw.store.Resume(nil) // a fault may have prevented the call
	c.arrival = nil
}

var labelInside = sim.NewLabel("inside")
