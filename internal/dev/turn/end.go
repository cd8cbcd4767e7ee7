package turn

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// checkEnd checks whether and how the execution ends. A failure that the turn must report comes first, then a cancel
// request, then the code's own result. An end must have exactly the breadcrumbs and cancellations that belong to it.
func (c *ackCheck) checkEnd() {
	c.checkResult()
	if c.terminal == nil {
		if c.at < len(c.delta) {
			c.say("the turn records breadcrumbs of an end, but no end")
		}
		return
	}
	c.checkUnreconciled()
	for _, id := range c.openWaits() {
		c.take(id, eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonTerminal}, "for a wait that is open at the end")
	}
	for _, id := range c.openDequeues() {
		c.take(id, eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonTerminal}, "for a dequeue that is open at the end")
	}
	c.take(0, c.terminal, "as the end")
	reason := eventdata.ReasonTerminalFailed
	switch c.terminal.(type) {
	case eventdata.OrchestrationCompleted:
		reason = eventdata.ReasonTerminalCompleted
	case eventdata.OrchestrationContinuedAsNew:
		reason = eventdata.ReasonTerminalContinuedAsNew
	}
	flying := c.inOrder(func(s *schedule) bool { return kindOf(s.event.Data) == "activity" && s.closed == 0 && !s.withdrawn })
	for _, id := range flying {
		c.take(id, eventdata.ActivityCancelRequested{Reason: reason}, "for an activity that runs at the end")
	}
	if c.at < len(c.delta) {
		c.say("%s comes after the end: expected nothing more", event(&c.delta[c.at]))
	}
}

// checkUnreconciled checks that a turn which a cancel ends, or which continues as new, records no drops: they do not
// matter any more (docs/contract/runtime.md#r7.9). It may have recorded some before it continues as new, if the drop of a
// wait has freed an event, and its code went on.
func (c *ackCheck) checkUnreconciled() {
	_, continues := c.terminal.(eventdata.OrchestrationContinuedAsNew)
	if !continues && !c.endsCancelled() {
		return
	}
	var drop *engine.Event
	for i := range c.delta[:c.at] {
		switch e := &c.delta[i]; e.Data.(type) {
		case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested:
			drop = e
		case eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
			if continues {
				return
			}
			drop = e
		}
	}
	if drop != nil {
		c.say("%s records a drop: expected none, since the turn ends with %s", event(drop), c.ending())
	}
}

// checkResult checks that the execution may end, or continue, the way it does.
func (c *ackCheck) checkResult() {
	failed, fails := c.terminal.(eventdata.OrchestrationFailed)
	d := failed.Details
	broken := c.brokenLimit()
	switch {
	case c.abort != nil:
		if !fails || !same(d, *c.abort) {
			c.say("the turn ends with %s: expected the failure %q, since the batch cannot belong to the history or brings an error that is not the application's",
				c.ending(), c.abort.Display())
		}
		return
	case fails && diesInCode(d):
		return
	case broken != "":
		want := engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: broken}}
		if !fails || !same(d, want) {
			c.say("the turn ends with %s: expected the failure %q, since it breaks that limit", c.ending(), broken)
		}
		return
	case c.cancelled != nil:
		want := engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppCancelled, Reason: *c.cancelled}}
		if !fails || !same(d, want) {
			c.say("the turn ends with %s: expected %q, since a cancel is requested", c.ending(), want.Display())
		}
		return
	}
	if fails {
		if d.Application == nil || !same(d, engine.ErrorDetails{Application: &eventdata.ApplicationError{
			Kind: eventdata.AppOrchestrationFailed, Message: d.Application.Message,
		}}) {
			c.say("the turn ends with %s: expected an error of the code, since nothing else fails it", c.ending())
		} else if namesLimit(d.Application.Message) && !c.passesOn(d.Application.Message) {
			c.say("the turn ends with %s: expected another end, since it breaks no limit", c.ending())
		}
	}
	if _, completes := c.terminal.(eventdata.OrchestrationCompleted); completes || fails {
		c.checkReturned()
	}
}

// namesLimit reports whether a text is the error for a broken limit.
func namesLimit(text string) bool {
	for _, begin := range []string{"Custom status size (", "Activity '", "KV value for key '", "KV key count ("} {
		if strings.HasPrefix(text, begin) && strings.Contains(text, ") exceeds limit (") {
			return true
		}
	}
	return false
}

// passesOn reports whether a text starts with the error of a failed activity or child, which means that the code
// returned that error.
func (c *ackCheck) passesOn(text string) (passed bool) {
	c.events(func(e *engine.Event) {
		switch d := e.Data.(type) {
		case eventdata.ActivityFailed:
			passed = passed || strings.HasPrefix(text, Text(d.Details))
		case eventdata.SubOrchestrationFailed:
			passed = passed || strings.HasPrefix(text, Text(d.Details))
		}
	})
	return passed
}

// checkReturned checks that code that has returned also dropped everything it was still waiting for.
func (c *ackCheck) checkReturned() {
	left := c.inOrder(func(s *schedule) bool {
		kind := kindOf(s.event.Data)
		return (kind == "activity" || kind == "suborchestration") && s.closed == 0 && !s.withdrawn
	})
	if !c.unsure() {
		left = append(left, c.openWaits()...)
	}
	left = append(left, c.openDequeues()...)
	left = slices.DeleteFunc(left, func(id uint64) bool { return slices.Contains(c.t.Unclaimed, id) })
	if len(left) > 0 {
		c.say("the code returns, but the events %d are neither completed nor recorded as dropped: expected a breadcrumb for each", left)
	}
}

// unsure reports whether the events leave it open which waits got an event. That is the case after a wait was dropped.
// An event that arrived at about the same time either went to the next wait or was discarded, depending on which of the
// two the code saw first.
func (c *ackCheck) unsure() (dropped bool) {
	if c.t.Semantics != engine.SemanticsDiscard {
		return false
	}
	c.events(func(e *engine.Event) {
		_, is := e.Data.(eventdata.ExternalSubscribedCancelled)
		dropped = dropped || is
	})
	return dropped
}

// diesInCode reports whether a failure comes from running the code: a panic, nondeterminism, or too many polls. Only
// the code can tell whether such a failure is right. Nondeterminism that the batch causes does not count.
func diesInCode(d engine.ErrorDetails) bool {
	switch {
	case d.Application != nil:
		return same(d, engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Message: d.Application.Message}})
	case d.Configuration != nil:
		for _, text := range []string{"no matching schedule", "completion kind mismatch for id=", "corrupted history"} {
			if d.Configuration.Message != nil && strings.HasPrefix(*d.Configuration.Message, text) {
				return false
			}
		}
		return true
	}
	return d.Infrastructure != nil && d.Infrastructure.Operation == "quiescence_loop"
}

// isPoison reports whether the ack ends the execution because its batch was delivered too often. In that case no turn
// was computed.
func (c *ackCheck) isPoison() bool {
	failed, ok := c.terminal.(eventdata.OrchestrationFailed)
	if !ok || failed.Details.Poison == nil {
		return false
	}
	t := failed.Details.Poison.MessageType
	return t.Instance == c.t.Instance && (t.Kind == eventdata.PoisonFailedDeserialization || t.Kind == eventdata.PoisonOrchestration)
}

// checkPoison checks that poison ends a running execution like any other failure, without running its code or consuming
// its batch.
func (c *ackCheck) checkPoison() {
	poison := c.terminal.(eventdata.OrchestrationFailed).Details
	if want := Text(poison); c.t.Ack.Metadata.Output == nil || *c.t.Ack.Metadata.Output != want {
		c.say("the metadata is %s: expected the output %q", metadata(c.t.Ack.Metadata), want)
	}
	if len(c.t.History) == 0 || c.undecodable() {
		return // The ack begins the execution only in order to fail it, or the execution cannot be read. S12 judges the rest.
	}
	c.checkEnvelopes()
	for _, m := range c.t.Batch {
		c.refuse(m)
	}
	c.abort = &poison
	c.checkEnd()
	if len(c.wrong) > 0 {
		return
	}
	c.same("work", nil, c.t.Ack.WorkerItems)
	c.same("message", append(append(c.answer(), c.cancels()...), c.refused...), c.t.Ack.OrchestratorItems)
	c.checkWithdrawn()
}
