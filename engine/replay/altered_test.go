package replay

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// checkAltered changes a history that agrees with its code in one place and replays it, once for each kind of change. The
// replay must report exactly that change; if it does not, it would not detect a wrong history either.
func checkAltered(t *rapid.T, in Input, place string) {
	in.NowMs = in.History[len(in.History)-1].TimestampMs // without its end, the history does not say when the last turn was
	for n := range 5 {
		whole := in.History
		altered, want := alter(n, whole, place)
		if altered == nil {
			continue
		}
		in.History = altered
		says, err := Verify(in)
		if in.History = whole; err != nil || !matchesOpen(says, want) {
			t.Fatalf("with change %d to its history: the replay says %q, %v; expected %q\nhistory: %s", n, says, err, want, historyText(altered))
		}
	}
}

// matchesOpen reports whether text equals want, in which … stands for what cannot be derived from the history.
func matchesOpen(text, want string) bool {
	begin, end, open := strings.Cut(want, "…")
	return text == want || open && len(text) >= len(begin)+len(end) && strings.HasPrefix(text, begin) && strings.HasSuffix(text, end)
}

// alter returns a copy of history with the n-th kind of change, and the text that a replay must report for it. It returns
// nil if that text cannot be derived from the history. place is where the code panicked, or "".
func alter(n int, history []engine.Event, place string) (altered []engine.Event, says string) {
	end := slices.IndexFunc(history, func(e engine.Event) bool { return IsEnd(e.Data) })
	if end < 1 {
		return nil, ""
	}
	ending := codeEnding(history[end].Data, place)
	if ending == "" {
		return nil, ""
	}
	altered = slices.Clone(history[:end+1])
	at := &altered[end].Data
	switch n % 5 {
	case 0: // no end
		return altered[:end], ending + ", the history goes on"
	case 1: // an end with another value
		*at, says = anotherValue(*at)
		return altered, ending + ", the history ends with " + says
	case 2: // an end of another kind
		*at, says = anotherEnd(*at)
		return altered, ending + ", the history ends with " + says
	case 3: // a schedule that the code does not ask for
		continued, ok := (*at).(eventdata.OrchestrationContinuedAsNew)
		*at = eventdata.ExternalSubscribed{Name: "altered"}
		switch {
		case ok && !hasGap(altered): // the code may name a version
			return altered, fmt.Sprintf(`nondeterministic: schedule mismatch: action=ContinueAsNew(version="…", input=%q) vs event=ExternalSubscribed(name="altered")`, continued.Input)
		case strings.Contains(ending, "another goroutine"): // it may stray when it is torn down, after that
			return nil, ""
		case strings.HasPrefix(ending, "the code ends"): // it panics before it gets there
			return altered, ending + ", the history goes on"
		case ok:
			return altered, "nondeterministic: history schedule but no emitted action"
		}
		return altered, fmt.Sprintf("nondeterministic: history schedule but no emitted action: %s before event %d (ExternalSubscribed)", ending, altered[end].EventID)
	}
	for i := end - 1; i >= 0; i-- { // another input of the last activity
		if d, ok := altered[i].Data.(eventdata.ActivityScheduled); ok {
			is := d
			is.Input += "!"
			altered[i].Data = is
			return altered, "nondeterministic: schedule mismatch: action=Activity" + activityTold(d) + " vs event=ActivityScheduled" + activityTold(is)
		}
	}
	return nil, ""
}

// hasGap reports whether event ids are missing from history. This happens if coroutines schedule more operations after a
// continue-as-new, because those operations leave no events.
func hasGap(history []engine.Event) bool {
	return history[len(history)-1].EventID-history[0].EventID >= uint64(len(history))
}

// codeEnding describes how the code ended, derived from the history's last event d. It returns "" if that is not possible.
func codeEnding(d engine.EventData, place string) string {
	switch d := d.(type) {
	case eventdata.OrchestrationCompleted:
		return fmt.Sprintf("the code returns %q", d.Output)
	case eventdata.OrchestrationContinuedAsNew:
		return fmt.Sprintf("the code continues as new with %q", d.Input)
	case eventdata.OrchestrationFailed:
		a := d.Details.Application
		switch {
		case a == nil || a.Kind == eventdata.AppCancelled || strings.Contains(a.Message, ") exceeds limit ("):
			return ""
		case a.Kind != eventdata.AppPanicked:
			return fmt.Sprintf("the code fails with %q", a.Message)
		case place != "":
			return fmt.Sprintf("the code ends with %q, at %s", "orchestration panicked: "+a.Message, place)
		}
		return fmt.Sprintf("the code ends with %q", "orchestration panicked: "+a.Message)
	}
	return ""
}

// anotherValue returns an end of the same kind with another value, and its description.
func anotherValue(d engine.EventData) (altered engine.EventData, says string) {
	switch d := d.(type) {
	case eventdata.OrchestrationCompleted:
		d.Output += "!"
		return d, fmt.Sprintf("OrchestrationCompleted(%q)", d.Output)
	case eventdata.OrchestrationContinuedAsNew:
		d.Input += "!"
		return d, fmt.Sprintf("OrchestrationContinuedAsNew(%q)", d.Input)
	}
	return failedWith("altered"), `OrchestrationFailed("altered")`
}

// anotherEnd returns an end of another kind, and its description.
func anotherEnd(d engine.EventData) (altered engine.EventData, says string) {
	if d, ok := d.(eventdata.OrchestrationCompleted); ok {
		return failedWith(d.Output), fmt.Sprintf("OrchestrationFailed(%q)", d.Output)
	}
	return eventdata.OrchestrationCompleted{Output: "altered"}, `OrchestrationCompleted("altered")`
}

func failedWith(text string) engine.EventData {
	return eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: text}}}
}

// activityTold describes an activity, after its kind.
func activityTold(d eventdata.ActivityScheduled) string {
	text := fmt.Sprintf("(name=%q, input=%q", d.Name, d.Input)
	if d.SessionID != "" {
		text += fmt.Sprintf(", session_id=%q", d.SessionID)
	}
	if d.Tag != "" {
		text += fmt.Sprintf(", tag=%q", d.Tag)
	}
	return text + ")"
}
