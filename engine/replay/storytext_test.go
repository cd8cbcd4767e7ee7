package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/wording"
)

// message reads a message of package wording. If the line does not say otherwise, it is for the story's execution.
func (s *story) message(t *testing.T, line string) engine.WorkItem {
	w, me, execution := splitWords(line), "Instance="+s.in.Instance, fmt.Sprint("ExecutionID=", s.in.ExecutionID)
	front := []string{me}
	switch kind := w[0]; {
	case kind == "Start":
		front = append(front, "Orchestration=P", "ExecutionID=1")
	case kind == "ContinueAsNew":
		front = append(front, "Orchestration=P")
	case strings.HasPrefix(kind, "SubOrch"):
		front = []string{"Parent" + me, "Parent" + execution}
	case strings.HasPrefix(kind, "Activity"), kind == "TimerFired":
		front = append(front, execution)
	}
	return wording.Item(t, w[0], append(front, w[1:]...))
}

func application(text string) engine.ErrorDetails {
	return engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: text}}
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
		told := e
		told.DuroxideVersion = "" // that of the build
		fmt.Fprintf(&b, "%d %s\n", e.EventID, wording.EventText(told))
		if e.InstanceID != me || e.ExecutionID == 0 || e.DuroxideVersion == "" {
			fmt.Fprintf(&b, "  bad envelope: %q %d %q\n", e.InstanceID, e.ExecutionID, e.DuroxideVersion)
		}
	}
	for _, w := range out.WorkerItems {
		fmt.Fprintf(&b, "worker: %s\n", wording.Text(w))
	}
	for _, w := range out.OrchestratorItems {
		fmt.Fprintf(&b, "orchestrator: %s\n", wording.Text(w))
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

// inRun reports whether an event is in the middle of a long run of events of one kind, of which only the ends are shown.
func inRun(delta []engine.Event, i int) bool {
	for j := i - 4; j <= i+4; j++ {
		if j < 0 || j >= len(delta) || delta[j].Kind() != delta[i].Kind() {
			return false
		}
	}
	return true
}
