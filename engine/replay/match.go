package replay

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// matches reports whether data is the schedule event for action a. It ignores a timer's time, and a child's instance id
// and version. A second-generation wait matches either form of event, because the execution's pin, not the code,
// decides which form a turn writes.
func (t *turn) matches(a *orchhost.Action, data engine.EventData) bool {
	same := func(input string) bool { return a.Input == input || !t.rules.ComparesInputs }
	switch d := data.(type) {
	case eventdata.ActivityScheduled:
		return a.Kind == orchhost.ActionActivity && a.Name == d.Name && same(d.Input) &&
			a.Session == d.SessionID && a.Tag == d.Tag
	case eventdata.TimerCreated:
		return a.Kind == orchhost.ActionTimer
	case eventdata.ExternalSubscribed:
		return (a.Kind == orchhost.ActionWait || a.Kind == orchhost.ActionWait2) && a.Name == d.Name
	case eventdata.ExternalSubscribed2:
		return a.Kind == orchhost.ActionWait2 && a.Name == d.Name && a.Topic == d.Topic
	case eventdata.QueueSubscribed:
		return a.Kind == orchhost.ActionDequeue && a.Name == d.Name
	case eventdata.SubOrchestrationScheduled:
		return a.Kind == orchhost.ActionSubOrchestration && a.Name == d.Name && same(d.Input)
	case eventdata.OrchestrationChained:
		return a.Kind == orchhost.ActionDetached && a.Name == d.Name && a.Instance == d.Instance && same(d.Input)
	}
	return false
}

// matchesStorable is matches for an action whose texts may not be storable yet; it makes them storable. Ask it only if
// matches fails: a text that equals a stored one is storable, and nearly all do.
func (t *turn) matchesStorable(a *orchhost.Action, data engine.EventData) bool {
	makeStorable(a)
	return t.matches(a, data)
}

// describeAction describes an action for a mismatch message.
func describeAction(a *orchhost.Action) string {
	switch a.Kind {
	case orchhost.ActionActivity:
		return activityText("Activity", a.Name, a.Input, a.Session, a.Tag)
	case orchhost.ActionTimer:
		return fmt.Sprintf("Timer(delay_ms=%d)", a.Delay.Milliseconds())
	case orchhost.ActionWait:
		return fmt.Sprintf("Wait(name=%q)", a.Name)
	case orchhost.ActionWait2:
		return fmt.Sprintf("Wait2(name=%q, topic=%q)", a.Name, a.Topic)
	case orchhost.ActionSubOrchestration:
		return fmt.Sprintf("SubOrchestration(name=%q, input=%q)", a.Name, a.Input)
	case orchhost.ActionDetached:
		return fmt.Sprintf("Detached(name=%q, instance=%q, input=%q)", a.Name, a.Instance, a.Input)
	case orchhost.ActionContinueAsNew:
		return fmt.Sprintf("ContinueAsNew(version=%q, input=%q)", a.Version, a.Input)
	case orchhost.ActionDequeue:
		return fmt.Sprintf("Dequeue(name=%q)", a.Name)
	}
	return describeChange(a)
}

// describeEvent describes an event for a mismatch message.
func describeEvent(data engine.EventData) string {
	switch d := data.(type) {
	case eventdata.ActivityScheduled:
		return activityText("ActivityScheduled", d.Name, d.Input, d.SessionID, d.Tag)
	case eventdata.TimerCreated:
		return fmt.Sprintf("TimerCreated(fire_at_ms=%d)", d.FireAtMs)
	case eventdata.ExternalSubscribed:
		return fmt.Sprintf("ExternalSubscribed(name=%q)", d.Name)
	case eventdata.ExternalSubscribed2:
		return fmt.Sprintf("ExternalSubscribed2(name=%q, topic=%q)", d.Name, d.Topic)
	case eventdata.SubOrchestrationScheduled:
		return fmt.Sprintf("SubOrchestrationScheduled(name=%q, instance=%q, input=%q)", d.Name, d.Instance, d.Input)
	case eventdata.OrchestrationChained:
		return fmt.Sprintf("OrchestrationChained(name=%q, instance=%q, input=%q)", d.Name, d.Instance, d.Input)
	case eventdata.QueueSubscribed:
		return fmt.Sprintf("QueueSubscribed(name=%q)", d.Name)
	case eventdata.OrchestrationFailed:
		return fmt.Sprintf("OrchestrationFailed(%q)", d.Details.Display())
	case eventdata.ActivityFailed:
		return fmt.Sprintf("ActivityFailed(%q)", d.Details.Display())
	case eventdata.SubOrchestrationFailed:
		return fmt.Sprintf("SubOrchestrationFailed(%q)", d.Details.Display())
	case eventdata.OrchestrationCompleted:
		return fmt.Sprintf("OrchestrationCompleted(%q)", d.Output)
	case eventdata.OrchestrationContinuedAsNew:
		return fmt.Sprintf("OrchestrationContinuedAsNew(%q)", d.Input)
	}
	return describeChanged(data)
}

func activityText(what, name, input, session, tag string) string {
	text := fmt.Sprintf("%s(name=%q, input=%q", what, name, input)
	if session != "" {
		text += fmt.Sprintf(", session_id=%q", session)
	}
	if tag != "" {
		text += fmt.Sprintf(", tag=%q", tag)
	}
	return text + ")"
}
