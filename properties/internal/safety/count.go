package safety

import (
	"fmt"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// countChecker checks rule S04: attempt counts are exact. At the end of each call, it compares the rows with those
// before the call, whether or not the caller receives the answer.
type countChecker struct{ check.Base }

func newCountChecker(m *check.Run) check.Checker {
	fetches := check.SetOf(observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem)
	return &countChecker{check.Base{Run: m, OnEnd: check.Ends{OK: fetches, Touched: check.AnyCall}}}
}

func (k *countChecker) Ended(c *model.Call, o *observe.Observation) {
	k.checkWaiting(c, o.Outcome)
	switch {
	case (c.Kind == observe.CallFetchOrchestrationItem || c.Kind == observe.CallFetchWorkItem) && o.Outcome == observe.OutcomeOK:
		k.checkDelivery(c)
	case c.Request.IgnoreAttempt && o.Outcome == observe.OutcomeOK:
		k.checkIgnored(c)
	default:
		k.checkKept(c, 0)
	}
}

// checkDelivery checks that every message in the batch was counted once, that no other message was counted, and that
// the caller got the highest count.
func (k *countChecker) checkDelivery(c *model.Call) {
	largest := uint32(0)
	for _, no := range c.Messages {
		r := k.Run.Model.Row(no)
		was := r.Before(c.ID)
		largest = max(largest, r.Count)
		if want := max(was.Count, was.Count+1); r.Count != want { // a count stops at its largest value
			k.violate(c, c.Instance, r, k.Run.Who(c.Caller)+" received", was.Count, want)
			return
		}
	}
	if c.Told != largest {
		k.Run.Safety("S04", c.Caller.Node, c.Instance, "%s got attempt count %d for token %s: expected %d, the maximum over the batch (%s)",
			k.Run.Who(c.Caller), c.Told, c.Token, largest, k.Run.BatchText(c.Messages))
	}
	k.checkKept(c, c.ID)
}

// checkIgnored checks that an abandon with ignore_attempt lowered the count of each message in its batch by one, but
// not below zero. It may do the same to the instance's other messages (docs/contract/provider.md#f9).
func (k *countChecker) checkIgnored(c *model.Call) {
	for _, r := range c.Rows {
		was := r.Before(c.ID)
		want := was.Count - min(was.Count, 1)
		if r.Count != want && (r.Count != was.Count || was.Lock.Token == c.Request.Token) {
			k.changed(c, r, was.Count, want)
			return
		}
	}
	in := model.HeldBy(c)
	if in == nil || in.BatchToken != c.Request.Token {
		return
	}
	for _, no := range in.Batch {
		r := k.Run.Model.Row(no)
		was := r.Before(c.ID)
		if want := was.Count - min(was.Count, 1); r.Count != want {
			k.changed(c, r, was.Count, want)
			return
		}
	}
}

// checkWaiting checks how a node gives back messages that arrived ahead of a continue-as-new start. The node's contract
// decides whether this counts as an attempt (docs/contract-decisions.md#contracts).
func (k *countChecker) checkWaiting(c *model.Call, outcome observe.Outcome) {
	in := model.HeldBy(c)
	if c.Kind != observe.CallAbandonOrchestrationItem || outcome != observe.OutcomeOK || in == nil ||
		in.BatchToken != c.Request.Token || in.Note.Token != c.Request.Token || in.Note.Decision != machine.DecideWaitForStart {
		return
	}
	inc := k.Run.Model.Incarnation(c.Caller)
	// On released nodes, S04 attempt-count-exact: whether input before a continue-as-new start counts is not judged. A
	// release follows its own contract, which may differ from that of the plan.
	if inc == nil || inc.Build.Release != "" || c.Request.IgnoreAttempt != inc.Build.CountsWaiting {
		return
	}
	counts := "uncounted"
	if inc.Build.CountsWaiting {
		counts = "counted"
	}
	k.Run.Safety("S04", c.Caller.Node, in.No, "%s gives back %s, whose continue-as-new start has not arrived, with ignore_attempt %t: expected it to be %s",
		k.Run.Who(c.Caller), k.Run.BatchText(in.Batch), c.Request.IgnoreAttempt, counts)
}

// checkKept checks that no count changed except those of the messages in the delivery.
func (k *countChecker) checkKept(c *model.Call, delivery uint64) {
	for _, r := range c.Rows {
		if was := &r.Was; r.Count != was.Count && was.Present && r.Present && (delivery == 0 || r.Delivered != delivery) {
			k.changed(c, r, was.Count, was.Count)
			return
		}
	}
}

func (k *countChecker) changed(c *model.Call, r *model.Row, was, want uint32) {
	what := c.Kind.String() + " (" + inWords[c.Outcome] + ")"
	if c.Request.IgnoreAttempt {
		what = c.Kind.String() + " with ignore_attempt"
	}
	k.violate(c, r.Instance.No, r, what+" by "+k.Run.Who(c.Caller)+" left", was, want)
}

// inWords has the outcomes in words. It is only used for lookups.
var inWords = map[observe.Outcome]string{
	observe.OutcomeNone: "no outcome", observe.OutcomeOK: "ok", observe.OutcomeNothing: "nothing",
	observe.OutcomeRetryable: "retryable error", observe.OutcomePermanent: "permanent error",
}

// violate reports that a call has left a message with a wrong count.
func (k *countChecker) violate(c *model.Call, no observe.InstanceNo, r *model.Row, did string, was, want uint32) {
	k.Run.Violate(check.Breach{
		Property: "S04", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: no, Item: model.ItemText(r),
		Message: fmt.Sprintf("%s %s with attempt count %d, which was %d before the call: expected %d", did, model.ItemText(r), r.Count, was, want),
	})
}
