package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
)

// tell hands the narrator a line about a node, a client or the world.
func (w *World) tell(number uint32, important bool, format string, args ...any) {
	l := Line{
		At: w.kernel.Now(), Ms: w.NowMs() - w.StartMs(), Step: w.Step(), Node: "world",
		Text: fmt.Sprintf(format, args...), Important: important,
	}
	if number > 0 {
		n := &w.infos[number-1]
		l.Node, l.Build = n.Name, n.Build.Name()
	}
	w.cfg.Narrator(l)
}

// narrateObservation tells what no record of the world says: damage.
func (w *World) narrateObservation(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsLockTaken:
		w.tokens[o.Token] = w.store.InstanceName(o.Instance)
	case engine.ObsDamaged:
		w.tell(0, true, "stored bytes of %s are damaged (execution %d, event %d, message %d)", w.store.InstanceName(o.Instance), o.Execution, o.EventID, o.Message)
	}
}

// narrate tells one record of the world.
func (w *World) narrate(r *Record) {
	switch r.Kind {
	case RecNodeStarted:
		w.tell(r.Node, true, "starts, replays %s", w.Node(r.Node).Filter)
	case RecNodeStopped:
		w.tell(r.Node, true, "has stopped")
	case RecNodeDraining:
		w.tell(r.Node, true, "stops gracefully: finishes what it holds")
	case RecNodeCrashed:
		w.tell(r.Node, true, "CRASHES (%s)", r.Text)
	case RecNodePaused:
		w.tell(r.Node, true, "freezes for %v", r.For)
	case RecNodeResumed:
		w.tell(r.Node, true, "goes on")
	case RecParked:
		w.tell(r.Node, false, "%s finds nothing and waits%s", slotName(r.Slot), w.skippedBy(r.Request))
	case RecNote:
		w.narrateNote(r)
	case RecLog:
		w.tell(r.Node, r.Log.Level != node.LevelInfo, "log: %s%s", r.Log.Text, logFields(r.Log))
	case RecAnswered:
		if r.Err != nil {
			w.tell(r.Node, true, "%s fails: %v", r.CallKind, r.Err)
		}
	case RecActivityStarted:
		w.tell(r.Node, false, "runs activity %s#%d of %s", r.Activity.Item.Name, r.Activity.Item.ID, r.Activity.Item.Instance)
	case RecPhaseBegan:
		w.tell(0, true, "%s begins", r.Phase)
	case RecScheduled:
		w.tell(0, true, "schedule: %s", r.Schedule)
	case RecClientAccepted:
		w.tell(0, true, "client sends %s", describeItem(r.Item))
	case RecFault:
		w.tell(r.Node, true, "FAULT %s%s", r.Fault, faultText(r))
	case RecHandlersChanged:
		w.tell(r.Node, true, "handlers change: %s", r.Text)
	}
}

func faultText(r *Record) string {
	switch {
	case r.CallKind != engine.CallNone && r.For > 0:
		return fmt.Sprintf(": %s takes %v", r.CallKind, r.For)
	case r.CallKind != engine.CallNone:
		return ": " + r.CallKind.String()
	case r.Item != nil:
		return ": client's " + describeItem(r.Item)
	case r.For > 0:
		return fmt.Sprintf(": %s takes %v", r.Instance, r.For)
	case r.Instance != "":
		return ": " + r.Instance
	}
	return ""
}

func logFields(l *node.Log) string {
	var b strings.Builder
	if l.Instance != "" {
		b.WriteString(" instance=" + l.Instance)
	}
	for _, f := range l.Fields {
		b.WriteString(" " + f.Name + "=" + f.Value)
	}
	return b.String()
}

func (w *World) narrateNote(r *Record) {
	n := r.Note
	switch n.Decision {
	case node.DecideTurn:
		t := n.Turn
		first := ""
		if t != nil && t.First {
			first = ", first turn"
		}
		if t != nil {
			w.tell(r.Node, false, "runs %s of %s execution %d%s: %d new events, %s", t.Handler, n.Instance, n.ExecutionID, first, t.Events, t.Result)
		}
	case node.DecideWorkRun, node.DecideWorkDone:
	default:
		text := fmt.Sprintf("%s: %s execution %d, delivery %d", n.Decision, n.Instance, n.ExecutionID, n.AttemptCount)
		if n.Cause != "" {
			text += " (" + n.Cause + ")"
		}
		if n.Delay > 0 {
			text += fmt.Sprintf(", back in %v", n.Delay)
		}
		w.tell(r.Node, true, "%s", text)
	}
}

// narrateExecuted tells what a provider call did at its atomic instant.
func (w *World) narrateExecuted(c *callState, a node.Answer) {
	if a.Err != nil {
		w.tell(c.node, true, "%s is refused: %v", c.kind, a.Err)
		return
	}
	switch r := c.request.(type) {
	case call.FetchOrchestrationItem:
		if f := a.Orchestration; f != nil {
			undecodable := ""
			if f.Item.HistoryError != "" {
				undecodable = ", undecodable: " + f.Item.HistoryError
			}
			w.tell(c.node, true, "%s fetches %s execution %d, pinned %s, delivery %d: %s%s%s", slotName(c.slot), f.Item.Instance, f.Item.ExecutionID,
				pinText(f.Item.Pin), f.AttemptCount, describeItems(f.Item.Messages), undecodable, w.skippedBy(r))
		}
	case call.FetchWorkItem:
		if f := a.Work; f != nil {
			w.tell(c.node, false, "%s fetches %s, delivery %d", slotName(c.slot), describeItem(f.Item), f.AttemptCount)
		}
	case call.AckOrchestrationItem:
		w.tell(c.node, true, "commits %s", w.describeAck((*engine.OrchestrationAck)(&r)))
	case call.AckWorkItem:
		if r.Completion != nil {
			w.tell(c.node, false, "acknowledges %s", describeItem(r.Completion))
		} else {
			w.tell(c.node, true, "acknowledges an activity without a completion")
		}
	case call.AbandonOrchestrationItem:
		w.tell(c.node, true, "gives %s back%s", w.tokens[r.LockToken], delayText(r.Delay, r.IgnoreAttempt))
	case call.AbandonWorkItem:
		w.tell(c.node, true, "gives an activity of %s back%s", w.tokens[r.LockToken], delayText(r.Delay, r.IgnoreAttempt))
	case call.RenewOrchestrationItemLock:
		w.tell(c.node, false, "renews its lock on %s", w.tokens[r.LockToken])
	case call.RenewWorkItemLock:
		w.tell(c.node, false, "renews its lock on an activity of %s", w.tokens[r.LockToken])
	}
}

func delayText(d time.Duration, ignoreAttempt bool) string {
	text := ""
	if d > 0 {
		text = fmt.Sprintf(", for %v", d)
	}
	if ignoreAttempt {
		text += ", not counted"
	}
	return text
}

func pinText(v *engine.Version) string {
	if v == nil {
		return "by nobody"
	}
	return v.String()
}

func slotName(s node.Slot) string {
	switch s.Kind {
	case node.SlotOrchestration:
		return fmt.Sprintf("orchestrator %d", s.Index)
	case node.SlotWorker:
		return fmt.Sprintf("worker %d", s.Index)
	}
	return "sessions"
}

// maxSkipped bounds how many skipped instances a line names.
const maxSkipped = 3

// skippedBy names the instances that have visible work and that the filter of a fetch excludes.
func (w *World) skippedBy(r call.Call) string {
	f, ok := r.(call.FetchOrchestrationItem)
	if !ok {
		return ""
	}
	var skipped []string
	more := 0
	for no := engine.InstanceNo(1); w.store.InstanceName(no) != ""; no++ {
		name := w.store.InstanceName(no)
		p, ok := w.store.Peek(name)
		if !ok || p.VisibleMs > w.NowMs() || p.LockedUntilMs > 0 || f.Filter.Admits(p.Pin) {
			continue
		}
		if len(skipped) == maxSkipped {
			more++
			continue
		}
		skipped = append(skipped, fmt.Sprintf("%s pinned %s", name, pinText(p.Pin)))
	}
	if len(skipped) == 0 {
		return ""
	}
	text := "; skips " + strings.Join(skipped, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ": outside " + f.Filter.String()
}

func describeItems(items []engine.WorkItem) string {
	if len(items) == 0 {
		return "no readable message"
	}
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = string(item.Kind())
	}
	return strings.Join(parts, ", ")
}

func describeItem(item engine.WorkItem) string {
	switch i := item.(type) {
	case engine.StartItem:
		return fmt.Sprintf("StartOrchestration of %s as %s", i.Orchestration, i.Instance)
	case engine.ActivityExecuteItem:
		return fmt.Sprintf("%s#%d of %s", i.Name, i.ID, i.Instance)
	case engine.ExternalRaisedItem:
		return fmt.Sprintf("event %q to %s", i.Name, i.Instance)
	case engine.ExternalRaised2Item:
		return fmt.Sprintf("event %q on %q to %s", i.Name, i.Topic, i.Instance)
	case engine.CancelInstanceItem:
		return fmt.Sprintf("cancel of %s (%s)", i.Instance, i.Reason)
	case engine.ActivityCompletedItem:
		return fmt.Sprintf("the result of #%d of %s", i.ID, i.Instance)
	case engine.ActivityFailedItem:
		return fmt.Sprintf("the failure of #%d of %s", i.ID, i.Instance)
	}
	return fmt.Sprintf("%s to %s", item.Kind(), item.Target())
}

func (w *World) describeAck(a *engine.OrchestrationAck) string {
	if len(a.HistoryDelta) == 0 {
		return w.tokens[a.LockToken] + " without an event: the batch is dropped"
	}
	var kinds []string
	for _, e := range a.HistoryDelta {
		kinds = append(kinds, string(e.Kind()))
	}
	text := fmt.Sprintf("%s execution %d: %s", w.tokens[a.LockToken], a.ExecutionID, strings.Join(kinds, ", "))
	if a.Metadata.PinnedVersion != nil {
		text += ", pinned " + a.Metadata.PinnedVersion.String()
	}
	if a.Metadata.Status != "" {
		text += ", now " + string(a.Metadata.Status)
		if a.Metadata.Status == engine.StatusFailed && a.Metadata.Output != nil {
			text += ": " + *a.Metadata.Output
		}
	}
	return text
}
