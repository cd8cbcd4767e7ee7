package turn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// checkDisagreement checks the failure of a turn whose code disagrees with an event e of its history. The code
// requested a instead, or nothing if a is nil. The text of the failure must be the one in
// docs/contract/runtime.md#r3.3, and must name what differs. If the turn gives a different reason, and the events bear
// that reason out, it takes precedence.
func (c *codeCheck) checkDisagreement(a *orchhost.Action, e *engine.Event) {
	text := c.reason()
	if c.givesOther(text) {
		return
	}
	want := "history schedule but no emitted action"
	if _, chained := e.Data.(eventdata.OrchestrationChained); chained {
		want = "history OrchestrationChained but no emitted action"
	}
	if a != nil {
		want = mismatchOf(e.Data) + " mismatch: action="
		asked, rest := quotes(text)
		has, _ := quotes(rest)
		if !strings.HasPrefix(text, want) || !slices.Equal(asked, namesOf(a)) || !slices.Equal(has, namesIn(e.Data)) {
			c.say("the turn ends with %s: expected a failure that begins with %q and names %q vs %q, since %s is %s, and the code requests %s",
				c.ending(), want, namesOf(a), namesIn(e.Data), event(e), shown(e.Data), request(a))
		}
	} else if text != want {
		c.say("the turn ends with %s: expected %q, since %s is %s, and the code requests nothing more", c.ending(), want, event(e), shown(e.Data))
	}
}

// quotes returns the quoted parts of a text, except empty ones, up to " vs event=", and what follows that.
func quotes(text string) (list []string, rest string) {
	const event = " vs event="
	for {
		plain, _, more := strings.Cut(text, `"`)
		if at := strings.Index(plain, event); at >= 0 {
			return list, text[at+len(event):]
		} else if !more {
			return list, ""
		}
		text = text[len(plain):]
		part, err := strconv.QuotedPrefix(text)
		if err != nil {
			return append(list, text), ""
		}
		if text = text[len(part):]; part != `""` {
			list = append(list, part)
		}
	}
}

// namesOf returns the quoted texts that identify a request, in the order in which a mismatch names them.
func namesOf(a *orchhost.Action) []string {
	switch a.Kind {
	case orchhost.ActionDetached:
		return quoted(a.Name, a.Instance, a.Input)
	case orchhost.ActionContinueAsNew:
		return quoted(a.Version, a.Input)
	}
	return quoted(a.Name, a.Topic, a.Input, a.Session, a.Tag)
}

// namesIn is like namesOf, for an event.
func namesIn(data engine.EventData) []string {
	switch d := data.(type) {
	case eventdata.ActivityScheduled:
		return quoted(d.Name, d.Input, d.SessionID, d.Tag)
	case eventdata.SubOrchestrationScheduled:
		return quoted(d.Name, d.Instance, d.Input)
	case eventdata.ExternalSubscribed:
		return quoted(d.Name)
	case eventdata.ExternalSubscribed2:
		return quoted(d.Name, d.Topic)
	case eventdata.QueueSubscribed:
		return quoted(d.Name)
	case eventdata.OrchestrationChained:
		return quoted(d.Name, d.Instance, d.Input)
	}
	return namesOfChange(data)
}

func quoted(texts ...string) (list []string) {
	for _, text := range texts {
		if text != "" {
			list = append(list, fmt.Sprintf("%q", stored(text)))
		}
	}
	return list
}

// givesOther reports whether a text describes a disagreement that does not involve a request of the code: a completion
// of something that is not open, or a drop that the code does not repeat. If the events give no reason for such a text,
// givesOther records that.
func (c *codeCheck) givesOther(text string) bool {
	want := ""
	switch {
	case strings.HasPrefix(text, "completion"):
		want = c.badCompletion()
	case strings.HasPrefix(text, "cancellation mismatch ("):
		whole := false
		if want, whole = c.undropped(); whole && text != want {
			want += " and nothing more"
		}
	default:
		return false
	}
	if want == "" || !strings.HasPrefix(text, want) {
		c.say("the turn ends with %s: expected no such failure, or one that begins with %q", c.ending(), want)
	}
	return true
}

// badCompletion returns the text for the first completion of something that is not open, or "" if there is none.
func (c *codeCheck) badCompletion() string {
	open := map[uint64]eventdata.Kind{}
	for pos := range c.count() {
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

// undropped returns the text for what history says is dropped and the code has not dropped, empty if it has. whole is
// false if the text only begins so, because the events do not determine what the code has dropped.
func (c *codeCheck) undropped() (text string, whole bool) {
	groups := [...]string{"activities", "sub-orchestrations", "external waits", "persistent waits"}
	kinds := []string{"activity", "suborchestration", "external", "queue"}
	var then, now [len(groups)][]uint64
	var kept [len(groups)]bool
	whole = c.returned == nil // code that returns drops what it has not awaited
	for i := range c.t.History {
		e := &c.t.History[i]
		group := slices.Index(kinds, kindOf(e.Data))
		if reasonOf(e.Data) == eventdata.ReasonDroppedFuture {
			then[group] = append(then[group], e.SourceEventID)
			f := c.fact(e.SourceEventID)
			if left := c.returned != nil && (f.done == 0 || f.done > c.reached); f.token == 0 || !c.token(f.token).dropped && !left {
				kept[group] = true
			}
		} else if f := c.fact(e.EventID); group >= 0 && f.token != 0 && c.token(f.token).dropped {
			now[group] = append(now[group], e.EventID)
			whole = whole && f.done == 0 // it may have been too late to drop
		}
	}
	for i, group := range groups {
		if kept[i] {
			text = "cancellation mismatch (" + group + "): baseline_dropped_future_cancel_requests=" + idSet(then[i]) + " ctx_cancelled_in_replayed_segment="
			if whole {
				text += idSet(now[i])
			}
			return text, whole
		}
	}
	return "", false
}

// idSet formats ids in ascending order, each once.
func idSet(ids []uint64) string {
	slices.Sort(ids)
	texts := make([]string, 0, len(ids))
	for _, id := range slices.Compact(ids) {
		texts = append(texts, strconv.FormatUint(id, 10))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}
