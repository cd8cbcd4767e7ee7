package safety

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// atomicChecker checks rule S06: an ack takes effect either completely or not at all. After a success, it compares each
// part of the state with the ack; after a failure, it compares the state with the state before the call. A change that
// was undone does not count. The stored bytes must have exactly the contents of the ack. Whether a turn's ack did more than
// its steps is judged by the checkers of what it could have touched: S04 (counts), S07 (stored events), S12 (messages),
// S14 (deletions), S16 (activities and sessions) and S17 (keys and custom status).
type atomicChecker struct {
	check.Base
	names map[string]string // maps Go field names to JSON names; never iterated over, so map order does not matter
	plain plainJSON
}

func newAtomicChecker(m *check.Run) check.Checker {
	return &atomicChecker{Base: check.Base{Run: m}, names: map[string]string{}}
}

func (*atomicChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(observe.RowInserted, observe.EventAppended)
}

func (*atomicChecker) Ends() check.Ends {
	return check.Ends{Any: check.SetOf(
		observe.CallAckOrchestrationItem, observe.CallAckWorkItem, observe.CallAbandonOrchestrationItem, observe.CallAbandonWorkItem,
		observe.CallRenewOrchestrationItemLock, observe.CallRenewWorkItemLock,
	)}
}

func (a *atomicChecker) Observe(o *observe.Observation) { a.spoken(o) }

func (a *atomicChecker) Ended(c *model.Call, o *observe.Observation) {
	seen := ""
	switch {
	case o.Outcome != observe.OutcomeOK:
		if seen = a.left(c); seen != "" {
			seen = "failed (" + errorText(o) + ") but left a change behind: " + seen
		}
	case c.Request.Ack != nil:
		if seen = a.missing(c); seen != "" {
			seen = "succeeded, but not as a whole: " + seen
		}
	case c.Kind == observe.CallAckWorkItem:
		if seen = a.missingOfWork(c); seen != "" {
			seen = "succeeded, but not as a whole: " + seen
		}
	}
	if seen == "" && o.Outcome == observe.OutcomeOK && c.Kind != observe.CallAckOrchestrationItem {
		if seen = a.beyond(c); seen != "" {
			seen = "succeeded, but made a change beyond its effect: " + seen
		}
	}
	if seen != "" {
		a.Run.Safety("S06", c.Caller.Node, a.where(c, o), "%s by %s with token %s %s", c.Kind, a.Run.Who(c.Caller), c.Request.Token, seen)
	}
}

func errorText(o *observe.Observation) string {
	if o.Err != nil {
		return o.Err.Error()
	}
	return outcomeText(o.Outcome)
}

func (a *atomicChecker) where(c *model.Call, o *observe.Observation) observe.InstanceNo {
	switch {
	case o.Instance != 0:
		return o.Instance
	case len(c.Instances) > 0:
		return c.Instances[0].No
	case len(c.Rows) > 0:
		return c.Rows[0].Instance.No
	}
	return 0
}

// left describes the first difference from the state before the call, or returns "" if there is none. It ignores marks,
// which are internal to the store.
func (a *atomicChecker) left(c *model.Call) string {
	if seen := a.rowsLeft(c); seen != "" {
		return seen
	}
	if seen := a.historyLeft(c); seen != "" {
		return seen
	}
	for _, in := range c.Instances {
		if seen := in.Left(); seen != "" {
			return seen
		}
		if was := &in.Was; lockDiffers(&in.Lock, &was.Lock) {
			return fmt.Sprintf("the instance has %s, before the call %s", a.Run.LockText(in.Lock), a.Run.LockText(was.Lock))
		}
	}
	return a.Run.Model.SessionsLeft(c)
}

// rowsLeft describes the first difference in the queues.
func (a *atomicChecker) rowsLeft(c *model.Call) string {
	for _, r := range c.Rows {
		was := &r.Was
		switch {
		case r.Present && !was.Present:
			return model.ItemText(r) + " is queued, before the call it was not"
		case !r.Present && was.Present:
			return model.ItemText(r) + " is gone, before the call it was queued"
		case !r.Present:
		case r.Count != was.Count:
			return model.ItemText(r) + countText(was.Count, r.Count, was.Count)
		case r.VisibleMs != was.VisibleMs:
			return fmt.Sprintf("%s is visible at %s, before the call at %s", model.ItemText(r), a.Run.At(r.VisibleMs), a.Run.At(was.VisibleMs))
		case r.Queue == observe.QueueWorker && lockDiffers(&r.Lock, &was.Lock):
			return fmt.Sprintf("%s has %s, before the call %s", model.ItemText(r), a.Run.LockText(r.Lock), a.Run.LockText(was.Lock))
		}
	}
	return ""
}

// historyLeft describes the first difference in the executions.
func (a *atomicChecker) historyLeft(c *model.Call) string {
	for _, e := range c.Appended {
		if kept := e.Execution.Event(e.ID); kept != nil && kept.Call == c.ID {
			return fmt.Sprintf("event %d (%s) of execution %d is stored", e.ID, a.Run.Model.Kinds.Name(kept.Kind), e.Execution.ID)
		}
	}
	for _, ex := range c.Executions {
		was := &ex.Was
		switch {
		case len(ex.Events) != was.Events:
			return fmt.Sprintf("execution %d has %d events, before the call %d", ex.ID, len(ex.Events), was.Events)
		case ex.Created != was.Created:
			return fmt.Sprintf("execution %d exists: %t, before the call: %t", ex.ID, ex.Created, was.Created)
		case ex.Status != was.Status || ex.Output != was.Output:
			return fmt.Sprintf("execution %d has status %q with output %q, before the call %q with %q", ex.ID, ex.Status, ex.Output, was.Status, was.Output)
		case !model.SamePin(ex.Pin, was.Pin):
			return fmt.Sprintf("execution %d has pin %s, before the call %s", ex.ID, model.PinText(ex.Pin), model.PinText(was.Pin))
		}
	}
	return ""
}

func lockDiffers(a, b *model.Lock) bool { return a.Token != b.Token || a.UntilMs != b.UntilMs }

// missing describes the first step of an orchestration ack that the state does not show, or returns "" if it shows them
// all.
func (a *atomicChecker) missing(c *model.Call) string {
	ack := c.Request.Ack
	in := model.HeldBy(c)
	if in == nil {
		return "" // reported under S05
	}
	if in.BatchToken == ack.LockToken {
		for _, m := range in.Batch {
			if r := a.Run.Model.Row(m); r.Present {
				return model.ItemText(r) + " of the batch is still queued"
			}
		}
	}
	meta := &ack.Metadata
	if meta.OrchestrationName != "" && meta.OrchestrationVersion != "" && !in.Created {
		return "the instance has no row"
	}
	ex := in.Execution(ack.ExecutionID)
	switch {
	case ex == nil || !ex.Created:
		return fmt.Sprintf("execution %d does not exist", ack.ExecutionID)
	case meta.PinnedVersion != nil && !model.SamePin(ex.Pin, meta.PinnedVersion):
		return fmt.Sprintf("execution %d has pin %s, the ack has %s", ex.ID, model.PinText(ex.Pin), meta.PinnedVersion)
	case meta.Status != "" && ex.Status != meta.Status:
		return fmt.Sprintf("execution %d has status %q, the ack has %q", ex.ID, ex.Status, meta.Status)
	}
	if want := max(in.Before(c.ID).CurrentID, ack.ExecutionID); in.Created && in.CurrentID != want {
		return fmt.Sprintf("the current execution is %d: expected %d", in.CurrentID, want)
	}
	for i := range ack.HistoryDelta {
		id := ack.HistoryDelta[i].EventID
		if e := ex.Event(id); e == nil || e.Call != c.ID {
			return fmt.Sprintf("event %d (%s) of execution %d is not stored", id, ack.HistoryDelta[i].Kind(), ex.ID)
		}
	}
	if seen := a.misCounted(c, ack); seen != "" {
		return seen
	}
	for _, id := range ack.CancelledActivities {
		for _, r := range a.activities(id.Instance) {
			if r.Execution == id.ExecutionID && r.ID == id.ActivityID {
				return model.ItemText(r) + " is cancelled, but still queued"
			}
		}
	}
	if in.Lock.Token == ack.LockToken {
		return "the instance is still locked (" + a.Run.LockText(in.Lock) + ")"
	}
	return ""
}

// misCounted compares how many messages were enqueued and how many events appended with the ack. Items of the wrong
// kind may be skipped or stored (F17).
func (a *atomicChecker) misCounted(c *model.Call, ack *engine.OrchestrationAck) string {
	activities, messages := 0, 0
	for _, w := range ack.WorkerItems {
		if w != nil && w.Kind() == engine.ItemActivityExecute {
			activities++
		}
	}
	for _, w := range ack.OrchestratorItems {
		if w != nil && w.Kind() != engine.ItemActivityExecute {
			messages++
		}
	}
	work, queued := c.Inserted[observe.QueueWorker], c.Inserted[observe.QueueOrchestrator]
	switch {
	case work < activities || work > len(ack.WorkerItems):
		return fmt.Sprintf("rows added to the worker queue: %d, activities in the ack: %d", work, activities)
	case queued < messages || queued > len(ack.OrchestratorItems):
		return fmt.Sprintf("messages added to the orchestrator queue: %d, messages in the ack: %d", queued, messages)
	case len(c.Appended) > len(ack.HistoryDelta):
		return fmt.Sprintf("events appended: %d, events in the ack: %d", len(c.Appended), len(ack.HistoryDelta))
	}
	return ""
}

func (a *atomicChecker) activities(instance string) []*model.Row {
	if no := a.Run.Model.Number(instance); no != 0 {
		return a.Run.Model.Instance(no).Work
	}
	return nil
}

// missingOfWork is like missing, for the ack of an activity: the activity's row must be gone, and its completion, if
// any, must be queued.
func (a *atomicChecker) missingOfWork(c *model.Call) string {
	removed := 0
	for _, r := range c.Rows {
		if r.Queue == observe.QueueWorker && r.Was.Present && !r.Present {
			removed++
		}
	}
	want := 0
	if c.Request.Item != nil {
		want = 1
	}
	switch {
	case removed != 1:
		return fmt.Sprintf("activities that left the queue: %d, expected 1", removed)
	case c.Inserted[observe.QueueOrchestrator] != want:
		return fmt.Sprintf("completions queued: %d, expected %d", c.Inserted[observe.QueueOrchestrator], want)
	}
	return ""
}
