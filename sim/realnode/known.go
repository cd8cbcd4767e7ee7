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
		r.Events = each(r.Events, knownEvent)
		return r
	case call.AckOrchestrationItem:
		r.HistoryDelta = each(r.HistoryDelta, knownEvent)
		r.WorkerItems, r.OrchestratorItems = each(r.WorkerItems, engine.Known), each(r.OrchestratorItems, engine.Known)
		return r
	}
	return c
}

func knownEvent(e engine.Event) engine.Event {
	e.Data = eventdata.Known(e.Data)
	return e
}

func each[T any](list []T, change func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = change(list[i])
	}
	return list
}
