package sqlite

import (
	"context"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// AckOrchestrationItem implements engine.Provider.
func (p *Provider) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	const op = "ack_orchestration_item"
	return p.transact(ctx, op, func(t *tx) error { return t.ack(op, ack) })
}

// ack performs the steps of docs/contract/provider.md#p5.3.
func (t *tx) ack(op string, ack engine.OrchestrationAck) error {
	failing := t.store.failing
	t.store.failing = -1 // only this call may fail, no matter how far it gets
	instance, err := t.holder(op, ack.LockToken)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return t.change(`DELETE FROM orchestrator_queue WHERE lock_token = ?`, ack.LockToken) },
		func() error { return t.saveInstance(instance, ack) },
		func() error { return t.appendEvents(op, instance, ack.ExecutionID, ack.HistoryDelta) },
		func() error { return t.saveStatus(instance, ack) },
		func() error { return t.saveCustomStatus(instance, ack.HistoryDelta) },
		func() error { return t.saveKV(instance, ack.HistoryDelta, ack.Metadata.Status) },
		func() error { return t.enqueueWork(op, ack.WorkerItems) },
		func() error { return t.cancel(ack.CancelledActivities) }, // after the inserts, because a turn may cancel what it schedules itself
		func() error { return t.enqueueAll(op, ack.OrchestratorItems) },
		func() error { return t.change(`DELETE FROM instance_locks WHERE instance_id = ?`, instance) },
	}
	for i, step := range steps {
		if failing >= 0 && failing%len(steps) == i {
			return engine.Retryablef(op, "the storage failed before step %d", i)
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// saveInstance creates or updates the rows of the instance and the execution.
func (t *tx) saveInstance(instance string, ack engine.OrchestrationAck) error {
	m := ack.Metadata
	if m.OrchestrationName != "" && m.OrchestrationVersion != "" {
		if err := t.change(`INSERT INTO instances (instance_id, orchestration_name, orchestration_version, current_execution_id,
				parent_instance_id, parent_execution_id, parent_event_id, created_at, updated_at)
			VALUES (?, ?, ?, ?, NULLIF(?, ''), ?, ?, ?, ?)
			ON CONFLICT (instance_id) DO UPDATE SET orchestration_name = excluded.orchestration_name,
				orchestration_version = excluded.orchestration_version, updated_at = excluded.updated_at`,
			instance, m.OrchestrationName, m.OrchestrationVersion, ack.ExecutionID,
			m.ParentInstanceID, m.ParentExecutionID, m.ParentEventID, t.now, t.now); err != nil {
			return err
		}
	}
	if err := t.change(`INSERT INTO executions (instance_id, execution_id, started_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		instance, ack.ExecutionID, t.now); err != nil {
		return err
	}
	if pin := m.PinnedVersion; pin != nil {
		if err := t.change(`UPDATE executions SET pin_major = ?, pin_minor = ?, pin_patch = ? WHERE instance_id = ? AND execution_id = ?`,
			pin.Major, pin.Minor, pin.Patch, instance, ack.ExecutionID); err != nil {
			return err
		}
	}
	return t.change(`UPDATE instances SET current_execution_id = MAX(current_execution_id, ?) WHERE instance_id = ?`, ack.ExecutionID, instance)
}

func (t *tx) saveStatus(instance string, ack engine.OrchestrationAck) error {
	if ack.Metadata.Status == "" {
		return nil
	}
	// Running is not an end, so it does not set completed_at and leaves an existing value unchanged (F18).
	return t.change(`UPDATE executions SET status = ?1, output = ?2, completed_at = CASE WHEN ?1 = 'Running' THEN completed_at ELSE ?3 END
		WHERE instance_id = ?4 AND execution_id = ?5`, string(ack.Metadata.Status), ack.Metadata.Output, t.now, instance, ack.ExecutionID)
}

func (t *tx) saveCustomStatus(instance string, events []engine.Event) error {
	for i := len(events) - 1; i >= 0; i-- {
		if set, ok := events[i].Data.(eventdata.CustomStatusUpdated); ok {
			return t.change(`UPDATE instances SET custom_status = ?, custom_status_version = custom_status_version + 1 WHERE instance_id = ?`,
				set.Status, instance)
		}
	}
	return nil
}

func (t *tx) cancel(activities []engine.ScheduledActivityIdentifier) error {
	for _, a := range activities {
		if err := t.change(`DELETE FROM worker_queue WHERE instance_id = ? AND execution_id = ? AND activity_id = ?`,
			a.Instance, a.ExecutionID, a.ActivityID); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) enqueueWork(op string, items []engine.WorkItem) error {
	for _, w := range items {
		if err := t.enqueueActivity(op, w); err != nil {
			return err
		}
	}
	return nil
}

// enqueueAll appends messages. A timer becomes visible when it fires.
func (t *tx) enqueueAll(op string, items []engine.WorkItem) error {
	for _, w := range items {
		visible := t.now
		if timer, ok := w.(engine.TimerFiredItem); ok {
			visible = int64(min(timer.FireAtMs, 1<<63-1))
		}
		if err := t.enqueue(op, w, visible); err != nil {
			return err
		}
	}
	return nil
}
