package realnode

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// known returns a copy of c whose items and events are in this module's own form. A runtime writes the same fields in a
// different order, which package call would preserve unnecessarily.
func known(c call.Call) call.Call {
	switch r := c.(type) {
	case call.EnqueueForOrchestrator:
		r.Item = engine.Known(r.Item)
		return r
	case call.EnqueueForWorker:
		r.Item = engine.Known(r.Item)
		return r
	case call.AckWorkItem:
		r.Completion = engine.Known(r.Completion)
		return r
	case call.AppendWithExecution:
		r.Events = knownEvents(r.Events)
		return r
	case call.AckOrchestrationItem:
		r.HistoryDelta = knownEvents(r.HistoryDelta)
		r.WorkerItems, r.OrchestratorItems = knownItems(r.WorkerItems), knownItems(r.OrchestratorItems)
		return r
	}
	return c
}

func knownEvents(list []engine.Event) []engine.Event {
	list = slices.Clone(list)
	for i := range list {
		list[i].Data = eventdata.Known(list[i].Data)
	}
	return list
}

func knownItems(list []engine.WorkItem) []engine.WorkItem {
	list = slices.Clone(list)
	for i := range list {
		list[i] = engine.Known(list[i])
	}
	return list
}
