package turn

import (
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// checkRest checks the events that the code has not requested. Once the code has ended, it need not request the rest of
// the history, and state changes may stay unclaimed (docs/contract/runtime.md#r7.3).
func (c *codeCheck) checkRest() {
	if c.strayed {
		return
	}
	for pos := c.next(); pos >= 0; pos = c.next() {
		e := c.event(pos)
		switch old := pos < len(c.t.History); {
		case old && !c.strayed && !c.isSchedule(pos) && (c.continued == nil || c.passed(pos)):
		case old && (c.returned != nil || c.continued != nil || !c.died.IsZero()):
			c.left = append(c.left, e.EventID)
			if !c.strayed && c.died.Configuration != nil && c.continued != nil {
				c.checkDisagreement(c.continued.Action, e)
			} else if !c.strayed && c.died.Configuration != nil {
				c.checkDisagreement(nil, e)
			}
			c.strayed = true
		default:
			c.say("%s is %s: expected no such event, since the code did not request it", event(e), shown(e.Data))
			return
		}
	}
	if c.strayed {
		return
	}
	if why := c.reason(); !c.givesOther(why) && disagrees(why) {
		c.say("the turn ends with %s: expected no such failure, since the requests of the code match the history, in the same order", c.ending())
	}
}

// Left returns the history's events that the code had not requested by the time it ended, for the turn checked last.
// The result is valid until the next call of CheckCode.
func (k *Checker) Left() []uint64 { return k.code.left }

// reason returns the text of a turn's failure that says that something is not deterministic, or "".
func (c *codeCheck) reason() string {
	if d := c.died.Configuration; d != nil && d.Message != nil {
		return *d.Message
	}
	return ""
}

// disagrees reports whether a failure's text says that code and history disagree.
func disagrees(text string) bool {
	return strings.Contains(text, "but no emitted action") || strings.Contains(text, "mismatch: action=")
}

// checkSent checks that a message sent by the turn has the version that the code named.
func (c *codeCheck) checkSent(a *orchhost.Action, e *engine.Event) {
	if a.Kind != orchhost.ActionSubOrchestration && a.Kind != orchhost.ActionDetached {
		return
	}
	var other *engine.StartItem
	for _, item := range c.t.Ack.OrchestratorItems { // code may start one instance twice, in two versions
		s, ok := item.(engine.StartItem)
		if !ok || a.Kind == orchhost.ActionDetached && (s.ParentInstance != "" || s.Instance != stored(a.Instance)) ||
			a.Kind == orchhost.ActionSubOrchestration && (s.ParentInstance != c.t.Instance || s.ParentID != e.EventID) {
			continue
		}
		if s.Version == stored(a.Version) {
			return
		}
		other = &s
	}
	if other != nil {
		c.say("the start of %s names the version %q: expected %q, as in the code", other.Instance, other.Version, a.Version)
	}
}

// checkOutcome checks that the turn ends the way its code does, and that it records the futures that the code dropped.
func (c *codeCheck) checkOutcome() {
	c.checkPolls()
	if c.panicked && c.died.Application == nil {
		c.say("the code panics, but the turn ends with %s: expected that failure", c.ending())
		return
	}
	switch d := c.terminal.(type) {
	case nil:
		if c.strayed {
			return
		}
		if c.returned != nil || c.continued != nil {
			c.say("the code has ended, but the turn continues: expected an end")
			return
		}
		c.checkDropped()
		c.checkAgrees()
	case eventdata.OrchestrationCompleted:
		if c.returned == nil || c.returned.Failed || c.returned.Text != d.Output || c.continued != nil {
			c.say("the turn ends with %s: expected the end of the code, %s", c.ending(), c.codeEnds())
		}
	case eventdata.OrchestrationContinuedAsNew:
		c.checkContinued(d)
	case eventdata.OrchestrationFailed:
		a := d.Details.Application
		switch {
		case a == nil || a.Kind == eventdata.AppCancelled:
		case a.Kind == eventdata.AppPanicked:
			if !c.panicked && !strings.Contains(a.Message, "another goroutine") {
				c.say("the turn ends with %s: expected the end of the code, %s", c.ending(), c.codeEnds())
			}
		case strings.Contains(a.Message, ") exceeds limit ("): // judged when the turn is committed
		case c.returned == nil || !c.returned.Failed || c.returned.Text != a.Message || c.continued != nil:
			c.say("the turn ends with %s: expected the end of the code, %s", c.ending(), c.codeEnds())
		}
	}
	c.checkCrumbs()
}

// checkAgrees checks that a turn that goes on has no reason to fail, since code and history disagree.
func (c *codeCheck) checkAgrees() {
	text := ""
	if c.twice {
		text = c.badCompletion()
	}
	if text == "" && c.dropped {
		text, _ = c.undropped()
	}
	if text != "" {
		c.say("the turn goes on: expected a failure that begins with %q", text)
	}
}

// codeEnds describes how the code ended.
func (c *codeCheck) codeEnds() string {
	switch {
	case c.continued != nil:
		return "which continues as new with " + shown(c.continued.Action.Input)
	case c.returned == nil:
		return "which waits"
	case c.returned.Failed:
		return "which fails with " + shown(c.returned.Text)
	}
	return "which returns " + shown(c.returned.Text)
}

func (c *codeCheck) checkContinued(d eventdata.OrchestrationContinuedAsNew) {
	if c.continued == nil || stored(c.continued.Action.Input) != d.Input {
		c.say("the turn ends with %s: expected the end of the code, %s", c.ending(), c.codeEnds())
		return
	}
	for _, item := range c.t.Ack.OrchestratorItems {
		if next, ok := item.(engine.ContinueAsNewItem); ok && next.Version != stored(c.continued.Action.Version) {
			c.say("the next execution gets the version %q: expected %q, as in the code", next.Version, c.continued.Action.Version)
		}
	}
}

// checkDropped checks that the turn records what the code dropped. That includes every future without a result. It also
// includes every dropped wait, even if its event has arrived, because the event then goes to the next wait.
func (c *codeCheck) checkDropped() {
	for i := range c.tokens {
		f := &c.tokens[i]
		if !f.dropped || f.event < 0 {
			continue
		}
		e := c.event(f.event)
		of := c.fact(e.EventID)
		switch e.Data.(type) {
		case eventdata.ActivityScheduled, eventdata.SubOrchestrationScheduled:
			if of.done == 0 && of.crumb == 0 {
				c.say("the code drops event %d, but no event records that: expected a breadcrumb", e.EventID)
			}
		case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.QueueSubscribed:
			if of.crumb == 0 {
				c.say("the code drops the wait %d, but no event records that: expected a breadcrumb", e.EventID)
			}
		}
	}
}

// checkCrumbs checks that everything that the turn records as dropped was dropped by the code.
func (c *codeCheck) checkCrumbs() {
	if c.returned != nil || c.strayed {
		return
	}
	for i := range c.delta {
		e := &c.delta[i]
		if reasonOf(e.Data) != eventdata.ReasonDroppedFuture {
			continue
		}
		if t := c.fact(e.SourceEventID).token; t != 0 && !c.token(t).dropped {
			c.say("%s says that the code has dropped event %d: expected code that drops it", event(e), e.SourceEventID)
		}
	}
}
