package replay

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// message reads a message line. "@N" at its end makes a completion one of execution N.
//
//	done ID RESULT · failed ID TEXT · infra ID TEXT · fired ID · child-done ID RESULT · child-failed ID TEXT
//	raise NAME DATA · raise2 NAME TOPIC DATA · cancel REASON · start INPUT [PARENT EXECUTION EVENT] · continue INPUT
//	queue NAME DATA
func (s *story) message(line string) (engine.WorkItem, error) {
	w := splitWords(line)
	execution := s.in.ExecutionID
	if last := w[len(w)-1]; strings.HasPrefix(last, "@") {
		execution, w = number(last[1:]), w[:len(w)-1]
	}
	me := s.in.Instance
	arg := func(i int) string {
		if i < len(w) {
			return w[i]
		}
		return ""
	}
	switch w[0] {
	case "done":
		return engine.ActivityCompletedItem{Instance: me, ExecutionID: execution, ID: number(w[1]), Result: arg(2)}, nil
	case "failed":
		return engine.ActivityFailedItem{Instance: me, ExecutionID: execution, ID: number(w[1]), Details: application(arg(2))}, nil
	case "infra":
		return engine.ActivityFailedItem{Instance: me, ExecutionID: execution, ID: number(w[1]), Details: infrastructure(arg(2))}, nil
	case "fired":
		return engine.TimerFiredItem{Instance: me, ExecutionID: execution, ID: number(w[1]), FireAtMs: 7}, nil
	case "child-done":
		return engine.SubOrchCompletedItem{ParentInstance: me, ParentExecutionID: execution, ParentID: number(w[1]), Result: arg(2)}, nil
	case "child-failed":
		return engine.SubOrchFailedItem{ParentInstance: me, ParentExecutionID: execution, ParentID: number(w[1]), Details: application(arg(2))}, nil
	case "raise":
		return engine.ExternalRaisedItem{Instance: me, Name: w[1], Data: arg(2)}, nil
	case "raise2":
		return engine.ExternalRaised2Item{Instance: me, Name: w[1], Topic: w[2], Data: arg(3)}, nil
	case "queue":
		return engine.QueueMessageItem{Instance: me, Name: w[1], Data: arg(2)}, nil
	case "cancel":
		return engine.CancelInstanceItem{Instance: me, Reason: arg(1)}, nil
	case "start":
		item := engine.StartItem{Instance: me, Orchestration: "P", Input: arg(1), ExecutionID: 1}
		if len(w) > 2 {
			item.ParentInstance, item.ParentExecutionID, item.ParentID = w[2], number(w[3]), number(w[4])
		}
		return item, nil
	case "continue":
		return engine.ContinueAsNewItem{Instance: me, Orchestration: "P", Input: arg(1)}, nil
	}
	return nil, fmt.Errorf("unknown message %q", line)
}

func application(text string) engine.ErrorDetails {
	return engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: text}}
}

func infrastructure(text string) engine.ErrorDetails {
	return engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "op", Message: text}}
}

// parseEvent parses an event line: id, build version, kind, source with "<-", and fields.
func parseEvent(line string) (engine.Event, error) {
	w := splitWords(line)
	e := engine.Event{EventID: number(w[0]), InstanceID: "p", ExecutionID: 1, DuroxideVersion: w[1]}
	kind, args := w[2], w[3:]
	if len(args) > 0 && strings.HasPrefix(args[0], "<-") {
		e.SourceEventID, args = number(args[0][2:]), args[1:]
	}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch engine.EventKind(kind) {
	case eventdata.KindOrchestrationStarted:
		e.Data = eventdata.OrchestrationStarted{Name: "P", Version: "1.0.0", Input: arg(0), ParentInstance: arg(1)}
		if arg(1) != "" {
			e.Data = eventdata.OrchestrationStarted{Name: "P", Version: "1.0.0", Input: arg(0), ParentInstance: arg(1), ParentExecutionID: 1, ParentID: 9}
		}
	case eventdata.KindActivityScheduled:
		e.Data = eventdata.ActivityScheduled{Name: arg(0), Input: arg(1), SessionID: arg(2), Tag: arg(3)}
	case eventdata.KindActivityCompleted:
		e.Data = eventdata.ActivityCompleted{Result: arg(0)}
	case eventdata.KindActivityCancelRequested:
		e.Data = eventdata.ActivityCancelRequested{Reason: arg(0)}
	case eventdata.KindTimerCreated:
		e.Data = eventdata.TimerCreated{FireAtMs: number(arg(0))}
	case eventdata.KindTimerFired:
		e.Data = eventdata.TimerFired{}
	case eventdata.KindSubOrchestrationScheduled:
		e.Data = eventdata.SubOrchestrationScheduled{Name: arg(0), Instance: arg(1), Input: arg(2)}
	case eventdata.KindOrchestrationChained:
		e.Data = eventdata.OrchestrationChained{Name: arg(0), Instance: arg(1), Input: arg(2)}
	case eventdata.KindOrchestrationContinuedAsNew:
		e.Data = eventdata.OrchestrationContinuedAsNew{Input: arg(0)}
	case eventdata.KindOrchestrationCompleted:
		e.Data = eventdata.OrchestrationCompleted{Output: arg(0)}
	case eventdata.KindExternalSubscribed:
		e.Data = eventdata.ExternalSubscribed{Name: arg(0)}
	case eventdata.KindKeyValueSet:
		e.Data = eventdata.KeyValueSet{Key: arg(0), Value: arg(1)}
	case eventdata.KindKeyValueCleared:
		e.Data = eventdata.KeyValueCleared{Key: arg(0)}
	case eventdata.KindKeyValuesCleared:
		e.Data = eventdata.KeyValuesCleared{}
	case eventdata.KindCustomStatusUpdated:
		status := arg(0)
		e.Data = eventdata.CustomStatusUpdated{Status: &status}
	case eventdata.KindQueueSubscribed:
		e.Data = eventdata.QueueSubscribed{Name: arg(0)}
	case eventdata.KindQueueEventDelivered:
		e.Data = eventdata.QueueEventDelivered{Name: arg(0), Data: arg(1)}
	case eventdata.KindQueueSubscriptionCancelled:
		e.Data = eventdata.QueueSubscriptionCancelled{Reason: arg(0)}
	case eventdata.KindExternalSubscribedCancelled:
		e.Data = eventdata.ExternalSubscribedCancelled{Reason: arg(0)}
	case eventdata.KindLegacyNote:
		e.Data = eventdata.LegacyNote{Text: arg(0)}
	default:
		return e, fmt.Errorf("unknown event %q", line)
	}
	return e, nil
}

// printOutput formats a turn's output, one fact per line, in the order of the ack.
func printOutput(out *Output, me string) string {
	var b strings.Builder
	for _, text := range out.Traces {
		fmt.Fprintf(&b, "trace %q\n", text)
	}
	for i, e := range out.Delta {
		if inRun(out.Delta, i) {
			continue
		}
		source := ""
		if e.SourceEventID != 0 {
			source = fmt.Sprintf(" <-%d", e.SourceEventID)
		}
		fmt.Fprintf(&b, "%d %s%s%s\n", e.EventID, e.Kind(), source, fields(e.Data))
		if e.InstanceID != me || e.ExecutionID == 0 || e.DuroxideVersion == "" {
			fmt.Fprintf(&b, "  bad envelope: %q %d %q\n", e.InstanceID, e.ExecutionID, e.DuroxideVersion)
		}
	}
	for _, w := range out.WorkerItems {
		fmt.Fprintf(&b, "worker: %s\n", item(w))
	}
	for _, w := range out.OrchestratorItems {
		fmt.Fprintf(&b, "orchestrator: %s\n", item(w))
	}
	for _, c := range out.Cancelled {
		fmt.Fprintf(&b, "withdrawn: activity %d\n", c.ActivityID)
	}
	for _, d := range out.Dropped {
		fmt.Fprintf(&b, "dropped: message %d, %s\n", d.Index, d.Rule)
	}
	for _, e := range out.NotCarried {
		fmt.Fprintf(&b, "not carried: %s %q\n", e.Name, e.Data)
	}
	if n := out.Nondeterminism; n != nil {
		fmt.Fprintf(&b, "nondeterminism: %v at %d\n", n.Kind, n.EventID)
	}
	m := out.Metadata
	if m.PinnedVersion != nil {
		fmt.Fprintf(&b, "metadata: %s@%s pin=%v", m.OrchestrationName, m.OrchestrationVersion, m.PinnedVersion)
		if m.ParentInstanceID != "" {
			fmt.Fprintf(&b, " parent=%s/%d/%d", m.ParentInstanceID, m.ParentExecutionID, m.ParentEventID)
		}
		b.WriteString("\n")
	}
	if m.Status != "" {
		fmt.Fprintf(&b, "metadata: %s %q\n", m.Status, *m.Output)
	}
	fmt.Fprintf(&b, "result: %v", out.Result)
	if !out.Details.IsZero() {
		fmt.Fprintf(&b, ", %s %q", out.Details.Category(), out.Details.Display())
	}
	if _, at, found := strings.Cut(out.PanickedAt, " ("); found {
		file, _, _ := strings.Cut(at, ":")
		fmt.Fprintf(&b, ", panicked in %s", file)
	}
	b.WriteString("\n")
	if out.Nondeterministic != "" {
		fmt.Fprintf(&b, "nondeterministic handler: %s\n", out.Nondeterministic)
	}
	return b.String()
}

// inRun reports whether an event is in the middle of a long run of KeyValueSet events, of which only the first and last
// are shown.
func inRun(delta []engine.Event, i int) bool {
	for _, j := range []int{i - 1, i, i + 1} {
		if j < 0 || j == len(delta) || delta[j].Kind() != eventdata.KindKeyValueSet {
			return false
		}
	}
	return true
}

func fields(data engine.EventData) string {
	switch d := data.(type) {
	case eventdata.OrchestrationStarted:
		text := fmt.Sprintf(" %s@%s %q", d.Name, d.Version, d.Input)
		if d.ParentInstance != "" {
			text += fmt.Sprintf(" parent=%s/%d/%d", d.ParentInstance, d.ParentExecutionID, d.ParentID)
		}
		return text + handedOver(d.CarryForwardEvents, d.InitialCustomStatus)
	case eventdata.OrchestrationCompleted:
		return fmt.Sprintf(" %q", d.Output)
	case eventdata.OrchestrationFailed:
		return fmt.Sprintf(" %q", d.Details.Display())
	case eventdata.OrchestrationContinuedAsNew:
		return fmt.Sprintf(" %q", d.Input)
	case eventdata.OrchestrationCancelRequested:
		return fmt.Sprintf(" %q", d.Reason)
	case eventdata.OrchestrationChained:
		return fmt.Sprintf(" %s %s %q", d.Name, d.Instance, d.Input)
	case eventdata.ActivityScheduled:
		return fmt.Sprintf(" %s %q%s", d.Name, d.Input, where(d.SessionID, d.Tag))
	case eventdata.ActivityCompleted:
		return fmt.Sprintf(" %q", d.Result)
	case eventdata.ActivityFailed:
		return fmt.Sprintf(" %q", d.Details.Display())
	case eventdata.ActivityCancelRequested:
		return " " + d.Reason
	case eventdata.TimerCreated:
		return fmt.Sprintf(" %d", d.FireAtMs)
	case eventdata.ExternalSubscribed:
		return " " + d.Name
	case eventdata.ExternalSubscribed2:
		return " " + d.Name + " " + d.Topic
	case eventdata.ExternalEvent:
		return fmt.Sprintf(" %s %q", d.Name, d.Data)
	case eventdata.ExternalEvent2:
		return fmt.Sprintf(" %s %s %q", d.Name, d.Topic, d.Data)
	case eventdata.ExternalSubscribedCancelled:
		return " " + d.Reason
	case eventdata.SubOrchestrationScheduled:
		return fmt.Sprintf(" %s %s %q", d.Name, d.Instance, d.Input)
	case eventdata.SubOrchestrationCompleted:
		return fmt.Sprintf(" %q", d.Result)
	case eventdata.SubOrchestrationFailed:
		return fmt.Sprintf(" %q", d.Details.Display())
	case eventdata.SubOrchestrationCancelRequested:
		return " " + d.Reason
	case eventdata.LegacyNote:
		return fmt.Sprintf(" %q", d.Text)
	case eventdata.QueueSubscribed:
		return " " + d.Name
	case eventdata.QueueEventDelivered:
		return fmt.Sprintf(" %s %q", d.Name, d.Data)
	case eventdata.QueueSubscriptionCancelled:
		return " " + d.Reason
	case eventdata.CustomStatusUpdated:
		if d.Status == nil {
			return " reset"
		}
		return " " + short(*d.Status)
	case eventdata.KeyValueSet:
		return fmt.Sprintf(" %s %s at %d", d.Key, short(d.Value), d.LastUpdatedAtMs)
	case eventdata.KeyValueCleared:
		return " " + d.Key
	}
	return ""
}

// short returns a text, or its length if it is long.
func short(text string) string {
	if len(text) > 80 {
		return fmt.Sprintf("(%d bytes)", len(text))
	}
	return strconv.Quote(text)
}

func where(session, tag string) string {
	text := ""
	if session != "" {
		text += " session=" + session
	}
	if tag != "" {
		text += " tag=" + short(tag)
	}
	return text
}

func handedOver(carried []engine.CarriedEvent, status *string) string {
	text := ""
	for _, e := range carried {
		text += fmt.Sprintf(" carries=%s:%s", e.Name, e.Data)
	}
	if status != nil {
		text += fmt.Sprintf(" status=%q", *status)
	}
	return text
}

func item(w engine.WorkItem) string {
	switch w := w.(type) {
	case engine.ActivityExecuteItem:
		return fmt.Sprintf("activity %d %s %q%s", w.ID, w.Name, w.Input, where(w.SessionID, w.Tag))
	case engine.TimerFiredItem:
		return fmt.Sprintf("timer %d at %d", w.ID, w.FireAtMs)
	case engine.StartItem:
		text := fmt.Sprintf("start %s %s@%s %q", w.Instance, w.Orchestration, w.Version, w.Input)
		if w.ParentInstance != "" {
			text += fmt.Sprintf(" parent=%s/%d/%d", w.ParentInstance, w.ParentExecutionID, w.ParentID)
		}
		return text
	case engine.ContinueAsNewItem:
		text := fmt.Sprintf("continue %s %s@%s %q", w.Instance, w.Orchestration, w.Version, w.Input)
		if w.ParentInstance != "" {
			text += fmt.Sprintf(" parent=%s/%d/%d", w.ParentInstance, w.ParentExecutionID, w.ParentID)
		}
		return text + handedOver(w.CarryForwardEvents, w.InitialCustomStatus)
	case engine.SubOrchCompletedItem:
		return fmt.Sprintf("tell %s/%d/%d completed %q", w.ParentInstance, w.ParentExecutionID, w.ParentID, w.Result)
	case engine.SubOrchFailedItem:
		return fmt.Sprintf("tell %s/%d/%d failed %q", w.ParentInstance, w.ParentExecutionID, w.ParentID, w.Details.Display())
	case engine.CancelInstanceItem:
		return fmt.Sprintf("cancel %s %q", w.Instance, w.Reason)
	}
	return string(w.Kind())
}
