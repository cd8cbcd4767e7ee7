package machine

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/wording"
)

func renderEffects(effects []Effect) string {
	var b strings.Builder
	for _, c := range effects {
		b.WriteString(renderEffect(c) + "\n")
	}
	return b.String()
}

func renderEffect(c Effect) string {
	switch c := c.(type) {
	case *ProviderCall:
		deadline := ""
		if c.Deadline != 0 {
			deadline = fmt.Sprintf(" (within %v)", c.Deadline)
		}
		return fmt.Sprintf("call %d %s: %s%s", c.ID, slotName(c.Slot), renderRequest(c), deadline)
	case *CancelCall:
		return fmt.Sprintf("take back call %d", c.ID)
	case *SetTimer:
		return fmt.Sprintf("timer %d in %v: %s", c.Timer, c.After, c.Purpose)
	case *CancelTimer:
		return fmt.Sprintf("take back timer %d", c.Timer)
	case *RunTurn:
		return fmt.Sprintf("job %d: turn of %s", c.Job, c.Instance)
	case *RunActivity:
		return fmt.Sprintf("job %d: activity %s of %s/%d#%d, delivery %d", c.Job, c.Item.Name, c.Item.Instance, c.Item.ExecutionID, c.Item.ID, c.AttemptCount)
	case *CancelJob:
		return fmt.Sprintf("take back job %d", c.Job)
	case *ActivityPanicked:
		return fmt.Sprintf("activity %s panicked: %s", c.Activity.Name, c.Text)
	case *Log:
		fields := ""
		for _, f := range c.Fields {
			fields += fmt.Sprintf(" %s=%s", f.Name, f.Value)
		}
		return fmt.Sprintf("%s: %s%s", [...]string{"info", "warn", "error"}[c.Level], c.Text, fields)
	case *Note:
		text := fmt.Sprintf("%s decides %s: %s/%d count %d", slotName(c.Slot), c.Decision, c.Instance, c.ExecutionID, c.AttemptCount)
		if c.Delay != 0 {
			text += fmt.Sprintf(", back in %v", c.Delay)
		}
		if c.Cause != "" {
			text += ", because " + c.Cause
		}
		for _, m := range c.Dropped {
			text += fmt.Sprintf(", drops %d by %s", m.Index, m.Rule)
		}
		if t := c.Turn; t != nil {
			text += fmt.Sprintf(", %s: %s, %d events", t.Handler, t.Result, t.Events)
			if t.First {
				text += ", first"
			}
		}
		return text
	case *Stopped:
		return "stopped"
	}
	panic(fmt.Sprintf("unknown call %T", c))
}

func slotName(s Slot) string {
	return fmt.Sprintf("%s%d", [...]string{"orch", "work", "sessions"}[s.Kind], s.Index)
}

func renderRequest(c *ProviderCall) string {
	switch r := c.Request.(type) {
	case call.FetchOrchestrationItem:
		return fmt.Sprintf("fetch, lock %v, wait %v, cadence %v, filter %s", r.LockTimeout, r.PollTimeout, c.Cadence, r.Filter)
	case call.AckOrchestrationItem:
		return "ack " + renderAck(engine.OrchestrationAck(r))
	case call.AbandonOrchestrationItem:
		return fmt.Sprintf("abandon %s, back in %v, %s", r.LockToken, r.Delay, counted(r.IgnoreAttempt))
	case call.RenewOrchestrationItemLock:
		return fmt.Sprintf("renew %s for %v", r.LockToken, r.ExtendFor)
	case call.FetchWorkItem:
		return fmt.Sprintf("fetch, lock %v, wait %v, cadence %v, tags %s%s", r.LockTimeout, r.PollTimeout, c.Cadence, tagsText(r.Tags), sessionText(r.Session))
	case call.AckWorkItem:
		return fmt.Sprintf("ack %s with %s", r.LockToken, wording.Text(r.Completion))
	case call.AbandonWorkItem:
		return fmt.Sprintf("abandon %s, back in %v, %s", r.LockToken, r.Delay, counted(r.IgnoreAttempt))
	case call.RenewWorkItemLock:
		return fmt.Sprintf("renew %s for %v", r.LockToken, r.ExtendFor)
	case call.RenewSessionLock:
		return fmt.Sprintf("renew sessions of %v for %v, unless idle for %v", r.Owners, r.ExtendFor, r.IdleTimeout)
	case call.CleanupOrphanedSessions:
		return fmt.Sprintf("clean up sessions idle for %v", r.IdleTimeout)
	case call.GetKVValue:
		return fmt.Sprintf("read key %s of %s", r.Key, r.Instance)
	}
	panic(fmt.Sprintf("unknown request %T", c.Request))
}

// tagsText formats a tag filter like the option of that name.
func tagsText(f engine.TagFilter) string {
	text, _ := node.Options{WorkerTagFilter: f}.Get("worker_tag_filter")
	return text
}

func sessionText(s *engine.SessionFetchConfig) string {
	if s == nil {
		return ", no session"
	}
	if s.OwnerID == "work-0-n1" {
		return ""
	}
	return ", sessions of " + s.OwnerID
}

func counted(ignore bool) string {
	if ignore {
		return "uncounted"
	}
	return "counted"
}

// renderAck lists an ack's contents, one item per line.
func renderAck(a engine.OrchestrationAck) string {
	lines := []string{fmt.Sprintf("%s/%d", a.LockToken, a.ExecutionID)}
	for _, e := range a.HistoryDelta {
		lines = append(lines, fmt.Sprintf("event %d %s", e.EventID, wording.EventText(e)))
	}
	for _, w := range a.WorkerItems {
		lines = append(lines, "work "+wording.Text(w))
	}
	for _, w := range a.OrchestratorItems {
		lines = append(lines, "send "+wording.Text(w))
	}
	for _, c := range a.CancelledActivities {
		lines = append(lines, fmt.Sprintf("withdraw %s/%d#%d", c.Instance, c.ExecutionID, c.ActivityID))
	}
	m := a.Metadata
	if m.OrchestrationName != "" {
		lines = append(lines, "name "+m.OrchestrationName+"@"+m.OrchestrationVersion)
	}
	if m.ParentInstanceID != "" {
		lines = append(lines, fmt.Sprintf("parent %s/%d#%d", m.ParentInstanceID, m.ParentExecutionID, m.ParentEventID))
	}
	if m.PinnedVersion != nil {
		lines = append(lines, "pin "+m.PinnedVersion.String())
	}
	if m.Status != "" {
		lines = append(lines, fmt.Sprintf("status %s %q", m.Status, *m.Output))
	}
	return strings.Join(lines, "\n  ")
}
