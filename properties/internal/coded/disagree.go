package coded

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/orchhost"
)

// checkDisagreement checks the failure of a turn whose code asks for something else than an event of its history, a, or for
// nothing, nil: its text is that of docs/contract/runtime.md#r3.3, and names what differs. Another reason that the events
// give comes first if the turn names it.
func (c *Checker) checkDisagreement(a *orchhost.Action, e *engine.Event) {
	text := ""
	if m := c.died.Configuration.Message; m != nil {
		text = *m
	}
	if c.givesOther(text) {
		return
	}
	want := []string{"history schedule but no emitted action"}
	if _, chained := e.Data.(eventdata.OrchestrationChained); chained {
		want[0] = "history OrchestrationChained but no emitted action"
	}
	if a != nil {
		want = append([]string{mismatchOf(e.Data) + " mismatch: action=", " vs event="}, namesOf(a, e.Data)...)
	}
	for i, part := range want {
		if at := strings.Index(text, part); at < 0 || i == 0 && at > 0 || a == nil && text != part {
			c.say("the turn ends with %s: expected a failure that begins with %q and has %q, since %s is %s, and the code asks for %s",
				c.ending(), want[0], part, event(e), shown(e.Data), asks(a))
			return
		}
	}
}

func asks(a *orchhost.Action) string {
	if a == nil {
		return "nothing more"
	}
	return request(a)
}

// mismatchOf returns how the text of a mismatch with an event begins.
func mismatchOf(d engine.EventData) string {
	switch d.(type) {
	case eventdata.CustomStatusUpdated:
		return "custom status"
	case eventdata.KeyValueSet:
		return "kv set"
	case eventdata.KeyValueCleared:
		return "kv clear"
	case eventdata.KeyValuesCleared:
		return "kv clear_all"
	}
	return "schedule"
}

// namesOf returns the texts of a request and of an event that the text of their mismatch has, quoted.
func namesOf(a *orchhost.Action, d engine.EventData) (names []string) {
	texts := []string{a.Name, a.Session, a.Tag}
	switch a.Kind {
	case orchhost.ActionDetached:
		texts = append(texts, a.Instance, a.Input)
	case orchhost.ActionWait2:
		texts = append(texts, a.Topic)
	default:
		texts = append(texts, a.Input)
	}
	switch d := d.(type) {
	case eventdata.ActivityScheduled:
		texts = append(texts, d.Name, d.Input, d.SessionID, d.Tag)
	case eventdata.SubOrchestrationScheduled:
		texts = append(texts, d.Name, d.Input)
	case eventdata.ExternalSubscribed:
		texts = append(texts, d.Name)
	case eventdata.ExternalSubscribed2:
		texts = append(texts, d.Name, d.Topic)
	case eventdata.QueueSubscribed:
		texts = append(texts, d.Name)
	case eventdata.OrchestrationChained:
		texts = append(texts, d.Name, d.Instance, d.Input)
	case eventdata.KeyValueSet:
		texts = append(texts, d.Key, d.Value)
	case eventdata.KeyValueCleared:
		texts = append(texts, d.Key)
	}
	for _, text := range texts {
		if text != "" {
			names = append(names, fmt.Sprintf("%q", stored(text)))
		}
	}
	return names
}

// givesOther reports whether a text names a disagreement that is not about a request of the code: a completion of what is not
// open, or a drop that the code does not repeat. It says so if the events give no reason for it.
func (c *Checker) givesOther(text string) bool {
	want := ""
	switch {
	case strings.HasPrefix(text, "completion"):
		want = c.badCompletion()
	case strings.HasPrefix(text, "cancellation mismatch ("):
		want = c.undropped()
	default:
		return false
	}
	if want == "" || !strings.HasPrefix(text, want) {
		c.say("the turn ends with %s: expected no such failure, or one that begins with %q", c.ending(), want)
	}
	return true
}

// badCompletion returns the text for the first completion of what is not open, empty if there is none.
func (c *Checker) badCompletion() string {
	open := map[uint64]eventdata.Kind{}
	for pos := range c.events() {
		e := c.event(pos)
		switch d := e.Data.(type) {
		case eventdata.ActivityScheduled, eventdata.TimerCreated, eventdata.SubOrchestrationScheduled:
			open[e.EventID] = eventdata.KindOf(d)
		case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
			kind, is := open[e.SourceEventID]
			_, completes := e.Data.(eventdata.ActivityCompleted)
			switch {
			case !is:
				return "completion without open schedule"
			case completes && kind != eventdata.KindActivityScheduled:
				return "completion kind mismatch: expected activity"
			}
			delete(open, e.SourceEventID)
		}
	}
	return ""
}

// undropped returns how the text begins for what history says is dropped and the code has not dropped, empty if it has.
func (c *Checker) undropped() string {
	groups := [...]string{"activities", "sub-orchestrations", "external waits", "persistent waits"}
	var then [len(groups)][]string
	var kept [len(groups)]bool
	for i := range c.t.History {
		e := &c.t.History[i]
		if reasonOf(e.Data) != eventdata.ReasonDroppedFuture {
			continue
		}
		group := 2
		switch e.Data.(type) {
		case eventdata.ActivityCancelRequested:
			group = 0
		case eventdata.SubOrchestrationCancelRequested:
			group = 1
		case eventdata.QueueSubscriptionCancelled:
			group = 3
		}
		if id := fmt.Sprint(e.SourceEventID); !slices.Contains(then[group], id) {
			then[group] = append(then[group], id)
		}
		if t := c.fact(e.SourceEventID).token; t == 0 || !c.token(t).dropped {
			kept[group] = true
		}
	}
	for i, group := range groups {
		if kept[i] {
			return "cancellation mismatch (" + group + "): baseline_dropped_future_cancel_requests={" + strings.Join(then[i], ", ") + "} ctx_cancelled_in_replayed_segment={"
		}
	}
	return ""
}
