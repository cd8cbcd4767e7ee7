package safety

import (
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// visibleErrorChecker checks rule S18: a decoding failure is reported as history_error. It uses what the store reports
// as decoded, the kinds in the history, the kinds that the caller's build reads, and the number of events in the
// delivery.
type visibleErrorChecker struct{ check.Base }

func newVisibleErrorChecker(m *check.Run) check.Checker {
	return &visibleErrorChecker{check.Base{Run: m}}
}

func (*visibleErrorChecker) Ends() check.Ends {
	return check.Ends{Any: check.SetOf(observe.CallFetchOrchestrationItem)}
}

func (v *visibleErrorChecker) Ended(c *model.Call, o *observe.Observation) {
	delivered := o.Outcome == observe.OutcomeOK && o.Fetched != nil
	if c.Unreadable != 0 {
		switch {
		case !model.Admits(c.Request.Filter, v.Run.Model.Instance(c.Unreadable).Pin()): // reported under S02
		case !delivered:
			v.report(c, c.Unreadable, "could not be decoded, but the fetch ended with "+outcomeText(o.Outcome)+": expected a delivery with history_error")
		case o.Instance != c.Unreadable:
			v.report(c, c.Unreadable, "could not be decoded, but the fetch delivered "+v.Run.Model.Name(o.Instance)+" instead: expected a delivery with history_error")
		case o.Fetched.Item.HistoryError == "":
			v.report(c, c.Unreadable, "could not be decoded, but the delivery does not report that: expected history_error")
		}
		return
	}
	if delivered && o.Instance != 0 && o.Fetched.Item.HistoryError == "" {
		v.checkWhole(c, o)
	}
}

// checkWhole checks that a delivery without history_error contains the whole history, and that the caller's build can
// read it.
func (v *visibleErrorChecker) checkWhole(c *model.Call, o *observe.Observation) {
	in := v.Run.Model.Instance(o.Instance)
	if !in.Created {
		return // without an instance row, the provider chooses which history counts
	}
	ex := in.Execution(in.CurrentID)
	if ex == nil {
		return
	}
	if got := len(o.Fetched.Item.History); got != len(ex.Events) {
		v.Run.Safety("S18", c.Caller.Node, in.No, "%s received the history of execution %d without history_error (token %s), %d of its %d events: expected all, or history_error",
			v.Run.Who(c.Caller), ex.ID, c.Token, got, len(ex.Events))
		return
	}
	inc := v.Run.Model.Incarnation(c.Caller)
	if inc == nil {
		return
	}
	if unread := ex.Kinds &^ inc.Reads &^ model.MaskOf(model.KindDamaged) &^ model.MaskOf(model.KindForeign); unread != 0 {
		v.Run.Safety("S18", c.Caller.Node, in.No, "%s received execution %d without history_error (token %s), although its build does not read %s: expected history_error",
			v.Run.Who(c.Caller), ex.ID, c.Token, v.Run.Model.Kinds.First(unread))
	}
}

func (v *visibleErrorChecker) report(c *model.Call, instance observe.InstanceNo, seen string) {
	if c.UnreadableMessage != 0 {
		v.Run.Safety("S18", c.Caller.Node, instance, "%s in a fetch by %s %s", model.ItemText(v.Run.Model.Row(c.UnreadableMessage)), v.Run.Who(c.Caller), seen)
		return
	}
	v.Run.Safety("S18", c.Caller.Node, instance, "event %d of execution %d in a fetch by %s %s", c.UnreadableEvent, c.UnreadableExecution, v.Run.Who(c.Caller), seen)
}
