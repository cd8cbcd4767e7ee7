package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// startMessage returns the index of the message that begins an execution with no history. That is the first message of
// the kind that begins this execution, or otherwise the first start message of any kind. It returns -1 if there is
// none.
func (c *ackCheck) startMessage() int {
	first := -1
	for i, m := range c.t.Batch {
		_, fresh := m.(engine.StartItem)
		_, next := m.(engine.ContinueAsNewItem)
		switch {
		case !fresh && !next:
		case fresh == (c.t.Execution == engine.InitialExecutionID):
			return i
		case first < 0:
			first = i
		}
	}
	return first
}

// link returns a link to a parent, or nil if instance is empty. A link from an old runtime has no execution; if the
// provider does not know it either, it is execution 1.
func (c *ackCheck) link(instance string, execution, event uint64) *engine.ParentLink {
	if instance == "" {
		return nil
	}
	if told := c.t.Parent; execution == 0 && told != nil && told.Instance == instance && told.EventID == event {
		execution = told.ExecutionID
	}
	return &engine.ParentLink{Instance: instance, ExecutionID: max(execution, engine.InitialExecutionID), EventID: event}
}

// parentLink returns the instance's link to its parent. The link comes from the instance's own start, or else from the
// start of its previous execution, or else from the provider.
func (c *ackCheck) parentLink() *engine.ParentLink {
	var link *engine.ParentLink
	if c.start >= 0 {
		switch m := c.t.Batch[c.start].(type) {
		case engine.StartItem:
			link = c.link(m.ParentInstance, m.ParentExecutionID, m.ParentID)
		case engine.ContinueAsNewItem:
			link = c.link(m.ParentInstance, m.ParentExecutionID, m.ParentID)
			if e := c.t.Previous; link == nil && e != nil {
				link = c.linkOf(*e)
			}
		}
	} else if len(c.t.History) > 0 {
		link = c.linkOf(c.t.History[0])
	}
	if link == nil {
		link = c.t.Parent
	}
	return link
}

func (c *ackCheck) linkOf(e engine.Event) *engine.ParentLink {
	d, ok := e.Data.(eventdata.OrchestrationStarted)
	if !ok {
		return nil
	}
	return c.link(d.ParentInstance, d.ParentExecutionID, d.ParentID)
}

// refuse records the answer to a start message for an instance that has already begun. The waiting parent gets a
// failure, unless the message is a duplicate of the one that created the instance.
func (c *ackCheck) refuse(m engine.WorkItem) {
	s, ok := m.(engine.StartItem)
	if !ok || s.ParentInstance == "" {
		return
	}
	link := engine.ParentLink{Instance: s.ParentInstance, ExecutionID: max(s.ParentExecutionID, engine.InitialExecutionID), EventID: s.ParentID}
	if c.parent != nil && *c.parent == link {
		return
	}
	c.refused = append(c.refused, failedChild(&link, engine.ErrorDetails{Application: &eventdata.ApplicationError{
		Kind: eventdata.AppOrchestrationFailed, Message: "instance already exists: " + s.Instance,
	}}))
}

func failedChild(to *engine.ParentLink, details engine.ErrorDetails) engine.WorkItem {
	return engine.SubOrchFailedItem{ParentInstance: to.Instance, ParentExecutionID: to.ExecutionID, ParentID: to.EventID, Details: details}
}

// take consumes the next event, which must equal the wanted one.
func (c *ackCheck) take(source uint64, want engine.EventData, why string) {
	if c.at == len(c.delta) {
		c.say("the turn records no %s: expected one %s", eventdata.KindOf(want), why)
		return
	}
	e := &c.delta[c.at]
	c.at++
	if e.SourceEventID != source || !same(e.Data, want) {
		c.say("%s of source %d is %s: expected %s of source %d with %s, %s",
			event(e), e.SourceEventID, shown(e.Data), eventdata.KindOf(want), source, shown(want), why)
	}
	c.enter(e, false)
}

// wanted returns the data of the wanted event. If the next event has equal data, it returns that data instead, which
// saves memory.
func wanted[T interface {
	comparable
	engine.EventData
}](c *ackCheck, want T) engine.EventData {
	if c.at < len(c.delta) {
		if got, ok := c.delta[c.at].Data.(T); ok && got == want {
			return c.delta[c.at].Data
		}
	}
	return want
}

// checkArrivals checks that the delta begins with the events for the batch's messages.
func (c *ackCheck) checkArrivals() {
	if len(c.t.History) == 0 {
		c.checkStart()
	} else if _, ok := c.t.History[0].Data.(eventdata.OrchestrationStarted); !ok {
		c.fail("corrupted history: first event must be OrchestrationStarted")
	}
	for i, m := range c.t.Batch {
		if len(c.wrong) > 0 {
			return
		}
		c.message = i
		switch m := m.(type) {
		case engine.StartItem:
			if i != c.start {
				c.drop("duplicate-start")
				c.refuse(m)
			}
		case engine.ContinueAsNewItem:
			if i != c.start {
				c.drop("duplicate-start")
			}
		case engine.ActivityCompletedItem:
			c.complete(m.ExecutionID, m.ID, "activity", wanted(c, eventdata.ActivityCompleted{Result: m.Result}), nil)
		case engine.ActivityFailedItem:
			c.complete(m.ExecutionID, m.ID, "activity", eventdata.ActivityFailed{Details: m.Details}, &m.Details)
		case engine.TimerFiredItem:
			c.complete(m.ExecutionID, m.ID, "timer", wanted(c, eventdata.TimerFired{FireAtMs: m.FireAtMs}), nil)
		case engine.SubOrchCompletedItem:
			c.complete(m.ParentExecutionID, m.ParentID, "suborchestration", wanted(c, eventdata.SubOrchestrationCompleted{Result: m.Result}), nil)
		case engine.SubOrchFailedItem:
			c.complete(m.ParentExecutionID, m.ParentID, "suborchestration", eventdata.SubOrchestrationFailed{Details: m.Details}, &m.Details)
		case engine.ExternalRaisedItem:
			c.take(0, wanted(c, eventdata.ExternalEvent{Name: m.Name, Data: m.Data}), "for a message of the batch")
		case engine.ExternalRaised2Item:
			first := c.t.EventGeneration == 1
			if c.t.EventGeneration == 0 {
				first = c.at < len(c.delta) && c.delta[c.at].Kind() == eventdata.KindExternalEvent
			}
			if first {
				c.take(0, wanted(c, eventdata.ExternalEvent{Name: m.Name, Data: m.Data}), "for a message of the batch")
			} else {
				c.take(0, wanted(c, eventdata.ExternalEvent2{Name: m.Name, Topic: m.Topic, Data: m.Data}), "for a message of the batch")
			}
		case engine.QueueMessageItem:
			c.take(0, wanted(c, eventdata.QueueEventDelivered{Name: m.Name, Data: m.Data}), "for a message of the batch")
		case engine.CancelInstanceItem:
			if c.cancelled != nil {
				c.drop("duplicate-cancel")
				continue
			}
			c.take(0, eventdata.OrchestrationCancelRequested{Reason: m.Reason}, "for the first cancel of the execution")
		case engine.ActivityExecuteItem:
			c.drop("not-orchestrator-work")
		}
	}
}

// checkStart checks that a first turn records the start event and then the queue messages that were carried over. A
// build may record a note of its own in between.
func (c *ackCheck) checkStart() {
	var want eventdata.OrchestrationStarted
	switch m := c.t.Batch[c.start].(type) {
	case engine.StartItem:
		want = eventdata.OrchestrationStarted{Name: m.Orchestration, Version: m.Version, Input: m.Input}
	case engine.ContinueAsNewItem:
		want = eventdata.OrchestrationStarted{
			Name: m.Orchestration, Version: m.Version, Input: m.Input, CarryForwardEvents: m.CarryForwardEvents, InitialCustomStatus: m.InitialCustomStatus,
		}
	}
	if p := c.parent; p != nil {
		want.ParentInstance, want.ParentExecutionID, want.ParentID = p.Instance, p.ExecutionID, p.EventID
	}
	if len(c.delta) > 0 {
		if got, ok := c.delta[0].Data.(eventdata.OrchestrationStarted); ok {
			c.checkVersion(want.Version, got.Version)
			want.Version = got.Version
			if len(want.CarryForwardEvents)+len(got.CarryForwardEvents) == 0 {
				want.CarryForwardEvents = got.CarryForwardEvents
			}
		}
	}
	if len(c.delta) > 0 && sameStart(c.delta[0].Data, &want) {
		c.take(0, c.delta[0].Data, "first")
	} else {
		c.take(0, want, "first")
	}
	if c.at < len(c.delta) {
		if d, ok := c.delta[c.at].Data.(eventdata.LegacyNote); ok {
			if c.t.Build != (engine.Version{}) && !strings.HasSuffix(d.Text, c.buildText) {
				c.say("%s says %q: expected a note that ends with the node's build, %s", event(&c.delta[c.at]), d.Text, c.t.Build)
			}
			c.at++
		}
	}
	for _, m := range want.CarryForwardEvents {
		c.take(0, eventdata.QueueEventDelivered(m), "for a message that is carried forward")
	}
}

// sameStart reports whether an event is the given start event. Unlike same, it does not use reflection, because every
// execution has a start.
func sameStart(data engine.EventData, want *eventdata.OrchestrationStarted) bool {
	got, ok := data.(eventdata.OrchestrationStarted)
	return ok && got.Name == want.Name && got.Version == want.Version && got.Input == want.Input &&
		got.ParentInstance == want.ParentInstance && got.ParentID == want.ParentID && got.ParentExecutionID == want.ParentExecutionID &&
		slices.Equal(got.CarryForwardEvents, want.CarryForwardEvents) && sameText(got.InitialCustomStatus, want.InitialCustomStatus)
}

// sameContinue compares two continue-as-new starts without reflection, since many executions end with one.
func sameContinue(a, b *engine.ContinueAsNewItem) bool {
	return a.Instance == b.Instance && a.Orchestration == b.Orchestration && a.Input == b.Input && a.Version == b.Version &&
		a.ParentInstance == b.ParentInstance && a.ParentID == b.ParentID && a.ParentExecutionID == b.ParentExecutionID &&
		(a.CarryForwardEvents == nil) == (b.CarryForwardEvents == nil) && slices.Equal(a.CarryForwardEvents, b.CarryForwardEvents) &&
		sameText(a.InitialCustomStatus, b.InitialCustomStatus)
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// checkVersion checks that the recorded version is the one that the start message asks for. If the message asks for
// none, any version is allowed.
func (c *ackCheck) checkVersion(asked, got string) {
	v, err := engine.ParseVersion(got)
	if err != nil {
		c.say("the start records %q, which is not a version", got)
	}
	if err != nil || asked == "" {
		return
	}
	want, err := engine.ParseVersion(asked)
	if err != nil || v != want {
		c.say("the start records the version %s: expected %s, as requested", got, asked)
	}
}

// fail records why the turn fails before its code runs. If there are several reasons for nondeterminism, the last one
// counts.
func (c *ackCheck) fail(text string) {
	details := eventdata.Nondeterminism(text)
	c.abort = &details
}

// complete expects an event for a completion, unless the completion is stale or a duplicate. failure is the error if
// the completion reports one.
func (c *ackCheck) complete(execution, id uint64, kind string, data engine.EventData, failure *engine.ErrorDetails) {
	if execution != c.t.Execution {
		c.drop("stale-execution")
		return
	}
	rule := c.refusal(id, kind)
	switch rule {
	case noSchedule:
		c.drop(rule)
		words := map[string]string{"activity": "completion", "timer": "timer", "suborchestration": "sub-orchestration"}
		c.fail(fmt.Sprintf("no matching schedule for %s id=%d", words[kind], id))
		return
	case kindMismatch:
		c.drop(rule)
		c.fail(fmt.Sprintf("completion kind mismatch for id=%d, expected '%s', got '%s'", id, kindOf(c.schedule(id).event.Data), kind))
		return
	case duplicate:
		c.drop(rule)
		return
	}
	c.take(id, data, "for a completion of the batch")
	if failure != nil && failure.Application == nil && c.abort == nil {
		c.abort = failure
	}
}

// The rules by which a completion of this execution leaves no event.
const (
	noSchedule   = "no-schedule"
	kindMismatch = "kind-mismatch"
	duplicate    = "duplicate-completion"
)

// refusal returns the rule by which a completion of an event leaves no event, or "" if it leaves one.
func (c *ackCheck) refusal(id uint64, kind string) string {
	switch s := c.schedule(id); {
	case s == nil:
		return noSchedule
	case kindOf(s.event.Data) != kind:
		return kindMismatch
	case s.closed != 0:
		return duplicate
	}
	return ""
}

// kindOf returns the name that the contract's error texts use for the kind of a schedule, or of what a breadcrumb drops.
func kindOf(d engine.EventData) string {
	switch d.(type) {
	case eventdata.ActivityScheduled, eventdata.ActivityCancelRequested:
		return "activity"
	case eventdata.TimerCreated:
		return "timer"
	case eventdata.SubOrchestrationScheduled, eventdata.SubOrchestrationCancelRequested:
		return "suborchestration"
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.ExternalSubscribedCancelled:
		return "external"
	case eventdata.QueueSubscribed, eventdata.QueueSubscriptionCancelled:
		return "queue"
	}
	return "none"
}
