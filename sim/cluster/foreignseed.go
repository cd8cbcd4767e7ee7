package cluster

import (
	"errors"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
)

// seedLock is the lock timeout used while writing a history to the store.
const seedLock = time.Minute

// seed writes a preloaded history to the store, using the calls that a node would have made.
func (f *foreign) seed(in memprovider.PreloadedInstance) {
	if f == nil || f.failure != nil || f.lost {
		return
	}
	err := f.plant(in)
	if f.store.Broken != nil {
		f.fail(f.store.Broken())
	}
	if err != nil {
		f.lost = true
		f.report(PropertyProvider, ClassSafety, "history %s cannot be written to the store: %v", in.Instance, err)
	}
}

func (f *foreign) plant(in memprovider.PreloadedInstance) error {
	f.atMs = f.nowMs()
	if err := f.store.SetNow(f.atMs); err != nil {
		return err
	}
	ex, p := in.Executions[0], f.store.Provider
	start := engine.StartItem{Instance: in.Instance, Orchestration: in.Orchestration, Version: in.Version, ExecutionID: ex.ID}
	if err := p.EnqueueForOrchestrator(f.ctx, start, 0); err != nil {
		return err
	}
	got, err := p.FetchOrchestrationItem(f.ctx, seedLock, 0, nil)
	if err != nil {
		return err
	}
	if got == nil || got.Item.Instance != in.Instance {
		return errors.New("the store does not deliver its only message")
	}
	delta, undecodable := f.delta(in.Instance, ex)
	metadata := engine.ExecutionMetadata{
		Status: ex.Status, OrchestrationName: in.Orchestration, OrchestrationVersion: in.Version, PinnedVersion: ex.Pin,
	}
	if in.Parent != nil {
		metadata.ParentInstanceID, metadata.ParentExecutionID, metadata.ParentEventID = in.Parent.Instance, in.Parent.ExecutionID, in.Parent.EventID
	}
	err = p.AckOrchestrationItem(f.ctx, engine.OrchestrationAck{LockToken: got.LockToken, ExecutionID: ex.ID, HistoryDelta: delta, Metadata: metadata})
	for _, id := range undecodable {
		if f.store.CorruptEvent == nil {
			return errors.New("it has no CorruptEvent, and the history has an event that cannot be decoded")
		}
		err = errors.Join(err, f.store.CorruptEvent(in.Instance, ex.ID, id))
	}
	return err
}

// delta returns the events of ex's history, with placeholders for events that will be made undecodable. It also returns
// the ids of those events.
func (f *foreign) delta(instance string, ex memprovider.PreloadedExecution) (events []engine.Event, undecodable []uint64) {
	for _, e := range ex.Events {
		event, err := engine.Opaque(f.builds[0].Codec).DecodeEvent(e.Data)
		if err != nil {
			undecodable = append(undecodable, e.ID)
			event = engine.Event{EventID: e.ID, InstanceID: instance, ExecutionID: ex.ID, Data: eventdata.ActivityScheduled{}}
		}
		events = append(events, event)
	}
	return events, undecodable
}
