package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// visibleErrorChecker asks that what cannot be decoded is reported as history_error: S18. Beside what the store says
// that it decoded it goes by the kinds in the history and the kinds that the caller's build reads, and by the number of
// events handed out.
type visibleErrorChecker struct{ base }

func newVisibleErrorChecker(m *run) checker { return &visibleErrorChecker{base{m}} }

func (*visibleErrorChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*visibleErrorChecker) records() []cluster.RecordKind { return nil }

func (v *visibleErrorChecker) observe(o *engine.Observation) {
	c := v.m.store.call(o.Call)
	if c == nil || c.kind != engine.CallFetchOrchestrationItem {
		return
	}
	delivered := o.Outcome == engine.OutcomeOK && o.Fetched != nil
	if c.unreadable != 0 {
		switch {
		case !c.request.Filter.Admits(v.m.store.instance(c.unreadable).pin()): // S02 has that case
		case !delivered:
			v.report(c, c.unreadable, "could not be decoded, and the fetch ended with "+outcomeText(o.Outcome)+": expected a delivery with history_error")
		case o.Instance != c.unreadable:
			v.report(c, c.unreadable, "could not be decoded, and the fetch delivered "+v.m.store.name(o.Instance)+" instead: expected a delivery with history_error")
		case o.Fetched.Item.HistoryError == "":
			v.report(c, c.unreadable, "could not be decoded, and the delivery says nothing of it: expected history_error")
		}
		return
	}
	if delivered && o.Instance != 0 && o.Fetched.Item.HistoryError == "" {
		v.checkWhole(c, o)
	}
}

// checkWhole: without history_error the whole history is there, and the caller's build reads it.
func (v *visibleErrorChecker) checkWhole(c *callState, o *engine.Observation) {
	in := v.m.store.instance(o.Instance)
	if !in.created {
		return // which history counts without an instances row is the provider's to say
	}
	ex := in.execution(in.currentID)
	if ex == nil {
		return
	}
	if got := len(o.Fetched.Item.History); got != len(ex.events) {
		v.m.safety("S18", c.caller.Node, in.no, "%s was handed the history of execution %d without history_error (token %s), %d of its %d events: expected all, or history_error",
			v.m.who(c.caller), ex.id, c.token, got, len(ex.events))
		return
	}
	inc := v.m.store.incarnation(c.caller)
	if inc == nil {
		return
	}
	if unread := ex.kinds &^ inc.reads &^ maskOf(kindDamaged) &^ maskOf(kindForeign); unread != 0 {
		v.m.safety("S18", c.caller.Node, in.no, "%s was handed execution %d without history_error (token %s), although its build does not read %s: expected history_error",
			v.m.who(c.caller), ex.id, c.token, v.m.store.kinds.first(unread))
	}
}

func (v *visibleErrorChecker) report(c *callState, instance engine.InstanceNo, seen string) {
	if c.unreadableMessage != 0 {
		v.m.safety("S18", c.caller.Node, instance, "%s in a fetch by %s %s", itemText(v.m.store.row(c.unreadableMessage)), v.m.who(c.caller), seen)
		return
	}
	v.m.safety("S18", c.caller.Node, instance, "event %d of execution %d in a fetch by %s %s", c.unreadableEvent, c.unreadableExecution, v.m.who(c.caller), seen)
}
