package properties

import (
	"math"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// countChecker asks for exact attempt counts: S04. It judges a call when it ends, by what the rows were when it began;
// whether the answer reaches anybody is of no account.
type countChecker struct{ base }

func newCountChecker(m *run) checker { return &countChecker{base{m}} }

func (*countChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*countChecker) records() []cluster.RecordKind { return nil }

func (k *countChecker) observe(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	if c == nil {
		return
	}
	switch {
	case (c.kind == engine.CallFetchOrchestrationItem || c.kind == engine.CallFetchWorkItem) && o.Outcome == engine.OutcomeOK:
		k.checkDelivery(c)
	case c.request.IgnoreAttempt && o.Outcome == engine.OutcomeOK:
		k.checkIgnored(c)
	default:
		k.checkKept(c, 0)
	}
}

// checkDelivery: every message of the batch was counted once, nothing else was, and the largest count was told.
func (k *countChecker) checkDelivery(c *callState) {
	largest := uint32(0)
	for _, no := range c.messages {
		r := k.m.store.row(no)
		was := r.before(c.id)
		largest = max(largest, r.count)
		if want := saturatingNext(was.count); r.count != want {
			k.m.violate(finding{
				property: "S04", class: cluster.ClassSafety, node: c.caller.Node, instance: c.instance, item: itemText(r),
				message: k.m.who(c.caller) + " was handed " + itemText(r) + countText(was.count, r.count, want),
			})
			return
		}
	}
	if c.told != largest {
		k.m.safety("S04", c.caller.Node, c.instance, "%s was told attempt count %d for token %s: expected %d, the maximum over the batch (%s)",
			k.m.who(c.caller), c.told, c.token, largest, k.m.batchText(c.messages))
	}
	k.checkKept(c, c.id)
}

// checkIgnored: an abandon with ignore_attempt took one from each message of its batch, and never went below zero.
// Whether it does so to other messages of the instance is left free (docs/contract/provider.md#f9).
func (k *countChecker) checkIgnored(c *callState) {
	for _, r := range c.rows {
		was := r.before(c.id)
		want := was.count - min(was.count, 1)
		if was.present && r.present && r.count != was.count && r.count != want {
			k.changed(c, r, was.count, want)
			return
		}
		if r.queue == engine.QueueWorker && was.lock.token == c.request.Token && r.count != want {
			k.changed(c, r, was.count, want)
			return
		}
	}
	in := heldBy(c)
	if in == nil || in.batchToken != c.request.Token {
		return
	}
	for _, no := range in.batch {
		r := k.m.store.row(no)
		was := r.before(c.id)
		if want := was.count - min(was.count, 1); r.present && r.delivered == in.batchCall && r.count != want {
			k.changed(c, r, was.count, want)
			return
		}
	}
}

// checkKept: no count changed but of messages that the delivery handed out.
func (k *countChecker) checkKept(c *callState, delivery uint64) {
	for _, r := range c.rows {
		was := r.before(c.id)
		if r.count != was.count && was.present && r.present && (delivery == 0 || r.delivered != delivery) {
			k.changed(c, r, was.count, was.count)
			return
		}
	}
}

func (k *countChecker) changed(c *callState, r *rowState, was, want uint32) {
	what := c.kind.String() + " (" + outcomeText(c.outcome) + ")"
	if c.request.IgnoreAttempt {
		what = c.kind.String() + " with ignore_attempt"
	}
	k.m.violate(finding{
		property: "S04", class: cluster.ClassSafety, node: c.caller.Node, instance: r.instance.no, item: itemText(r),
		message: what + " by " + k.m.who(c.caller) + " left " + itemText(r) + countText(was, r.count, want),
	})
}

// heldBy is the instance whose lock the call's token held when the call began, nil if the call touched none such.
func heldBy(c *callState) *instanceState {
	for _, in := range c.instances {
		if in.was.lock.token != "" && in.was.lock.token == c.request.Token {
			return in
		}
	}
	return nil
}

func saturatingNext(count uint32) uint32 {
	if count == math.MaxUint32 {
		return count
	}
	return count + 1
}
