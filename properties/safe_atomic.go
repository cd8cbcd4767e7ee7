package properties

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// atomicChecker asks that an ack is done as a whole or not at all: S06. After a success it compares the state with what
// the ack said, step by step; after a failure with what was before. What was taken back counts as not done.
type atomicChecker struct{ base }

func newAtomicChecker(m *run) checker { return &atomicChecker{base{m}} }

func (*atomicChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*atomicChecker) records() []cluster.RecordKind { return nil }

func (a *atomicChecker) observe(o *engine.Observation) {
	c := a.m.store.call(o.Call)
	if c == nil {
		return
	}
	switch c.kind {
	case engine.CallAckOrchestrationItem, engine.CallAckWorkItem, engine.CallAbandonOrchestrationItem, engine.CallAbandonWorkItem,
		engine.CallRenewOrchestrationItemLock, engine.CallRenewWorkItemLock:
	default:
		return
	}
	seen := ""
	switch {
	case o.Outcome != engine.OutcomeOK:
		if seen = a.left(c); seen != "" {
			seen = "failed (" + errorText(o) + ") and left something behind: " + seen
		}
	case c.kind == engine.CallAckOrchestrationItem && c.request.Ack != nil:
		if seen = a.missing(c, o.Instance); seen != "" {
			seen = "succeeded, but not as a whole: " + seen
		}
	case c.kind == engine.CallAckWorkItem:
		if seen = a.missingOfWork(c); seen != "" {
			seen = "succeeded, but not as a whole: " + seen
		}
	}
	if seen != "" {
		a.m.safety("S06", c.caller.Node, a.where(c, o), "%s by %s with token %s %s", c.kind, a.m.who(c.caller), c.request.Token, seen)
	}
}

func errorText(o *engine.Observation) string {
	if o.Err != nil {
		return o.Err.Error()
	}
	return outcomeText(o.Outcome)
}

func (a *atomicChecker) where(c *callState, o *engine.Observation) engine.InstanceNo {
	switch {
	case o.Instance != 0:
		return o.Instance
	case len(c.instances) > 0:
		return c.instances[0].no
	case len(c.rows) > 0:
		return c.rows[0].instance.no
	}
	return 0
}

// left is the first difference to the state before the call, empty if there is none. Marks are the store's own affair.
func (a *atomicChecker) left(c *callState) string {
	for _, r := range c.rows {
		was := &r.was
		switch {
		case r.present && !was.present:
			return itemText(r) + " is queued, before it was not"
		case !r.present && was.present:
			return itemText(r) + " is gone, before it was queued"
		case !r.present:
		case r.count != was.count:
			return itemText(r) + countText(was.count, r.count, was.count)
		case r.visibleMs != was.visibleMs:
			return fmt.Sprintf("%s is visible at %s, before the call at %s", itemText(r), a.m.at(r.visibleMs), a.m.at(was.visibleMs))
		case r.queue == engine.QueueWorker && lockDiffers(&r.lock, &was.lock):
			return fmt.Sprintf("%s has %s, before the call %s", itemText(r), a.m.lockText(r.lock), a.m.lockText(was.lock))
		}
	}
	for _, e := range c.appended {
		if kept := e.execution.event(e.id); kept != nil && kept.call == c.id {
			return fmt.Sprintf("event %d (%s) of execution %d is stored", e.id, a.m.store.kinds.name(kept.kind), e.execution.id)
		}
	}
	for _, ex := range c.executions {
		was := &ex.was
		switch {
		case len(ex.events) != was.events:
			return fmt.Sprintf("execution %d has %d events, before the call %d", ex.id, len(ex.events), was.events)
		case ex.created != was.created:
			return fmt.Sprintf("execution %d exists: %t, before the call: %t", ex.id, ex.created, was.created)
		case ex.status != was.status || ex.output != was.output:
			return fmt.Sprintf("execution %d has status %q with output %q, before the call %q with %q", ex.id, ex.status, ex.output, was.status, was.output)
		case !samePin(ex.pin, was.pin):
			return fmt.Sprintf("execution %d has pin %s, before the call %s", ex.id, pinText(ex.pin), pinText(was.pin))
		}
	}
	for _, in := range c.instances {
		was := &in.was
		switch {
		case in.created != was.created:
			return fmt.Sprintf("the instance's row exists: %t, before the call: %t", in.created, was.created)
		case in.currentID != was.currentID:
			return fmt.Sprintf("the current execution is %d, before the call %d", in.currentID, was.currentID)
		case lockDiffers(&in.lock, &was.lock):
			return fmt.Sprintf("the instance has %s, before the call %s", a.m.lockText(in.lock), a.m.lockText(was.lock))
		}
	}
	return ""
}

func lockDiffers(a, b *lockState) bool { return a.token != b.token || a.untilMs != b.untilMs }

// missing is the first step of an orchestration ack that the state does not show, empty if it shows all.
func (a *atomicChecker) missing(c *callState, no engine.InstanceNo) string {
	ack := c.request.Ack
	in := heldBy(c)
	if in == nil {
		if no == 0 {
			return "" // S05 has that case
		}
		in = a.m.store.instance(no)
	}
	if in.batchToken == ack.LockToken {
		for _, m := range in.batch {
			if r := a.m.store.row(m); r.present && r.delivered == in.batchCall {
				return itemText(r) + " of the batch is still queued"
			}
		}
	}
	meta := &ack.Metadata
	if meta.OrchestrationName != "" && meta.OrchestrationVersion != "" && !in.created {
		return "the instance's row is not there"
	}
	ex := in.execution(ack.ExecutionID)
	switch {
	case ex == nil || !ex.created:
		return fmt.Sprintf("execution %d is not there", ack.ExecutionID)
	case meta.PinnedVersion != nil && !samePin(ex.pin, meta.PinnedVersion):
		return fmt.Sprintf("execution %d has pin %s, the ack says %s", ex.id, pinText(ex.pin), meta.PinnedVersion)
	case meta.Status != "" && ex.status != meta.Status:
		return fmt.Sprintf("execution %d has status %q, the ack says %q", ex.id, ex.status, meta.Status)
	}
	if want := max(in.before(c.id).currentID, ack.ExecutionID); in.created && in.currentID != want {
		return fmt.Sprintf("the current execution is %d: expected %d", in.currentID, want)
	}
	for i := range ack.HistoryDelta {
		id := ack.HistoryDelta[i].EventID
		if e := ex.event(id); e == nil || e.call != c.id {
			return fmt.Sprintf("event %d (%s) of execution %d is not stored", id, ack.HistoryDelta[i].Kind(), ex.id)
		}
	}
	if seen := a.misCounted(c, ack); seen != "" {
		return seen
	}
	for _, id := range ack.CancelledActivities {
		for _, r := range a.activities(id.Instance) {
			if r.execution == id.ExecutionID && r.id == id.ActivityID {
				return itemText(r) + " is cancelled, and still queued"
			}
		}
	}
	if in.lock.token == ack.LockToken {
		return "the instance is still locked (" + a.m.lockText(in.lock) + ")"
	}
	return ""
}

// misCounted compares how much was enqueued and appended. Items of the wrong kind may be skipped or stored (F17).
func (a *atomicChecker) misCounted(c *callState, ack *engine.OrchestrationAck) string {
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
	work, queued := c.inserted[engine.QueueWorker], c.inserted[engine.QueueOrchestrator]
	switch {
	case work < activities || work > len(ack.WorkerItems):
		return fmt.Sprintf("rows added to the worker queue: %d, activities in the ack: %d", work, activities)
	case queued < messages || queued > len(ack.OrchestratorItems):
		return fmt.Sprintf("messages added to the orchestrator queue: %d, messages in the ack: %d", queued, messages)
	case len(c.appended) > len(ack.HistoryDelta):
		return fmt.Sprintf("events appended: %d, events in the ack: %d", len(c.appended), len(ack.HistoryDelta))
	}
	return ""
}

func (a *atomicChecker) activities(instance string) []*rowState {
	if no := a.m.store.number(instance); no != 0 {
		return a.m.store.instance(no).work
	}
	return nil
}

// missingOfWork is the same for the ack of an activity: its row leaves, and its completion is queued, if it has one.
func (a *atomicChecker) missingOfWork(c *callState) string {
	removed := 0
	for _, r := range c.rows {
		if r.queue == engine.QueueWorker && r.was.present && !r.present {
			removed++
		}
	}
	want := 0
	if c.request.Item != nil {
		want = 1
	}
	switch {
	case removed != 1:
		return fmt.Sprintf("activities that left the queue: %d, expected 1", removed)
	case c.inserted[engine.QueueOrchestrator] != want:
		return fmt.Sprintf("completions queued: %d, expected %d", c.inserted[engine.QueueOrchestrator], want)
	}
	return ""
}
