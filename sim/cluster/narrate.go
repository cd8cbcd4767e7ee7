package cluster

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/record"
)

// narrator writes a run's narration.
type narrator struct {
	*base
	tokens map[string]string // instances by lock token; lookups only
}

// tell writes a line about a node, a client or the world.
func (nr *narrator) tell(number uint32, important bool, format string, args ...any) {
	nr.cfg.Narrator(nr.line(number, important, format, args...))
}

func (nr *narrator) line(number uint32, important bool, format string, args ...any) Line {
	l := Line{
		At: nr.kernel.Now(), Ms: nr.nowMs() - nr.startMs(), Step: nr.steps(), Node: "world",
		Text: fmt.Sprintf(format, args...), Important: important,
	}
	if number > 0 {
		n := &nr.infos[number-1]
		l.Node, l.Build = n.Name, n.Build.Name()
	}
	return l
}

// tellCall writes a line about a call that takes effect. Its caller may be over: the store serves a call all the same, and
// what it hands out stays locked.
func (nr *narrator) tellCall(c *callState, important bool, format string, args ...any) {
	l := nr.line(c.node, important, format, args...)
	if !c.alive() {
		l.Text += fmt.Sprintf("; nobody gets the answer: it is for start %d of %s, which is over", c.inc, l.Node)
		l.Build, l.Important = "", true
	}
	nr.cfg.Narrator(l)
}

// observe narrates damage, for which there is no world record, and keeps track of which instance each lock token
// belongs to.
func (nr *narrator) observe(o *observe.Observation) {
	switch o.Kind {
	case observe.LockTaken:
		nr.tokens[o.Token] = nr.store.InstanceName(o.Instance)
	case observe.Damaged:
		what := fmt.Sprintf("event %d of execution %d", o.EventID, o.Execution)
		if o.Message > 0 {
			what = fmt.Sprintf("message %d", o.Message)
		}
		nr.tell(0, true, "the stored bytes of %s of %s are damaged", what, nr.store.InstanceName(o.Instance))
	}
}

func (nr *narrator) record(r *Record) {
	switch r.Kind {
	case record.NodeStarted:
		nr.tell(r.Node, true, "starts, replays %s", nr.node(r.Node).Filter)
	case record.NodeStopped:
		nr.tell(r.Node, true, "has stopped")
	case record.NodeDraining:
		nr.tell(r.Node, true, "stops gracefully: finishes what it holds")
	case record.NodeCrashed:
		nr.tell(r.Node, true, "CRASHES (%s)", r.Text)
	case record.NodePaused:
		nr.tell(r.Node, true, "freezes for %v", r.For)
	case record.NodeResumed:
		nr.tell(r.Node, true, "goes on")
	case record.Parked:
		nr.tell(r.Node, false, "%s finds nothing and waits%s", r.Slot.String(), nr.skippedBy(r.Request))
	case record.Note:
		nr.note(r)
	case record.Log:
		nr.tell(r.Node, r.Log.Level != machine.LevelInfo, "log: %s%s", r.Log.Text, logFields(r.Log))
	case record.Answered:
		if r.Err != nil {
			nr.tell(r.Node, true, "%s fails: %v", r.CallKind, r.Err)
		}
	case record.ActivityStarted:
		nr.tell(r.Node, false, "runs activity %s#%d of %s", r.Activity.Item.Name, r.Activity.Item.ID, r.Activity.Item.Instance)
	case record.PhaseBegan:
		if r.Phase == PhaseFaults {
			nr.tell(0, true, "the fault phase begins")
		} else {
			nr.tell(0, true, "%s begins", r.Phase)
		}
	case record.DeadLetter:
		nr.tell(0, true, "the store ends %s: %s", r.Instance, r.Text)
	case record.Scheduled:
		nr.tell(0, true, "schedule: %s", r.Schedule)
	case record.ClientAccepted:
		nr.tell(0, true, "client sends %s", describeItem(r.Item))
	case record.Fault:
		nr.tell(r.Node, true, "FAULT %s%s", r.Fault, faultText(r))
	case record.MigrationBegan:
		nr.tell(r.Node, true, "is to start as %s: migrates the store to schema %d, for %v", r.Text, r.Schema, r.For)
	case record.MigrationEnded:
		if r.Text != "" {
			nr.tell(r.Node, true, "%s: the store keeps schema %d", r.Text, r.Schema)
		} else {
			nr.tell(r.Node, true, "the store has schema %d", r.Schema)
		}
	case record.StartRefused:
		nr.tell(r.Node, true, "does not start: %s", nr.node(r.Node).Refusal)
	case record.Activated:
		nr.tell(r.Node, true, "%s is activated", r.Text)
	case record.ActivationWaits:
		nr.tell(r.Node, true, "is not ready for %s, whose activation waits", r.Text)
	case record.HandlersChanged:
		nr.tell(r.Node, true, "handlers change: %s", r.Text)
	}
}

func faultText(r *Record) string {
	switch {
	case r.CallKind != observe.CallNone && r.For > 0:
		return fmt.Sprintf(": %s takes %v", r.CallKind, r.For)
	case r.CallKind != observe.CallNone:
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

func logFields(l *machine.Log) string {
	var b strings.Builder
	if l.Instance != "" {
		b.WriteString(" instance=" + l.Instance)
	}
	for _, f := range l.Fields {
		b.WriteString(" " + f.Name + "=" + f.Value)
	}
	return b.String()
}

func (nr *narrator) note(r *Record) {
	n := r.Note
	switch n.Decision {
	case machine.DecideTurn:
		t := n.Turn
		if t == nil {
			return
		}
		how := ""
		switch {
		case t.First:
			how = ", first turn"
		case t.Resumed:
			how = ", kept since its last turn"
		case nr.infos[r.Node-1].Options.KeptExecutions > 0:
			how = ", replayed"
		}
		nr.tell(r.Node, false, "runs %s of %s execution %d%s: %d new events, %s", t.Handler, n.Instance, n.ExecutionID, how, t.Events, t.Result)
	case machine.DecideWorkRun, machine.DecideWorkDone:
	default:
		text := fmt.Sprintf("%s: %s execution %d, delivery %d", n.Decision, n.Instance, n.ExecutionID, n.AttemptCount)
		if n.Cause != "" {
			text += " (" + n.Cause + ")"
		}
		if n.Delay > 0 {
			text += fmt.Sprintf(", back in %v", n.Delay)
		}
		nr.tell(r.Node, true, "%s", text)
	}
}

// executed narrates what a provider call did when it took effect.
func (nr *narrator) executed(c *callState, a machine.Answer) {
	if a.Err != nil {
		nr.tellCall(c, true, "%s is refused: %v", c.kind, a.Err)
		return
	}
	switch r := c.request.(type) {
	case call.FetchOrchestrationItem:
		if f := a.Orchestration; f != nil {
			undecodable := ""
			if f.Item.HistoryError != "" {
				undecodable = ", undecodable: " + f.Item.HistoryError
			}
			nr.tellCall(c, true, "%s fetches %s execution %d, %s, delivery %d: %s%s%s", c.slot.String(), f.Item.Instance, f.Item.ExecutionID,
				pinned(f.Item.Pin), f.AttemptCount, describeItems(f.Item.Messages), undecodable, nr.skippedBy(r))
		}
	case call.FetchWorkItem:
		if f := a.Work; f != nil {
			nr.tellCall(c, false, "%s fetches %s, delivery %d", c.slot.String(), describeItem(f.Item), f.AttemptCount)
		}
	case call.AckOrchestrationItem:
		nr.tellCall(c, true, "commits %s", nr.describeAck((*engine.OrchestrationAck)(&r)))
	case call.AckWorkItem:
		if r.Completion != nil {
			nr.tellCall(c, false, "acknowledges %s", describeItem(r.Completion))
		} else {
			nr.tellCall(c, true, "acknowledges an activity without a completion")
		}
	case call.AbandonOrchestrationItem:
		nr.tellCall(c, true, "gives %s back%s", nr.tokens[r.LockToken], delayText(r.Delay, r.IgnoreAttempt))
	case call.AbandonWorkItem:
		nr.tellCall(c, true, "gives an activity of %s back%s", nr.tokens[r.LockToken], delayText(r.Delay, r.IgnoreAttempt))
	case call.RenewOrchestrationItemLock:
		nr.tellCall(c, false, "renews its lock on %s", nr.tokens[r.LockToken])
	case call.RenewWorkItemLock:
		nr.tellCall(c, false, "renews its lock on an activity of %s", nr.tokens[r.LockToken])
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

func pinned(v *engine.Version) string {
	if v == nil {
		return "unpinned"
	}
	return "pinned " + v.String()
}

// maxSkipped limits how many skipped instances a line names.
const maxSkipped = 3

// skippedBy describes the instances with visible work that are excluded by a fetch's filter.
func (nr *narrator) skippedBy(r call.Call) string {
	f, ok := r.(call.FetchOrchestrationItem)
	if !ok {
		return ""
	}
	var skipped []string
	more := 0
	for no := observe.InstanceNo(1); nr.store.InstanceName(no) != ""; no++ {
		name := nr.store.InstanceName(no)
		p, ok := nr.store.Peek(name)
		if !ok || p.VisibleMs > nr.nowMs() || p.LockedUntilMs > 0 || f.Filter.Admits(p.Pin) {
			continue
		}
		if len(skipped) == maxSkipped {
			more++
			continue
		}
		skipped = append(skipped, name+" "+pinned(p.Pin))
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
	kinds := pretty.Texts(items, func(i engine.WorkItem) string { return string(i.Kind()) })
	return cmp.Or(strings.Join(kinds, ", "), "no readable message")
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

func (nr *narrator) describeAck(a *engine.OrchestrationAck) string {
	if len(a.HistoryDelta) == 0 {
		return nr.tokens[a.LockToken] + " without an event: the batch is dropped"
	}
	kinds := pretty.Texts(a.HistoryDelta, func(e engine.Event) string { return string(e.Kind()) })
	text := fmt.Sprintf("%s execution %d: %s", nr.tokens[a.LockToken], a.ExecutionID, strings.Join(kinds, ", "))
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
