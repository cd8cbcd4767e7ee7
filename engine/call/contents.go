package call

import (
	"slices"

	"github.com/durosim/durosim/engine"
)

// WithContents returns a copy of c in which event and item have replaced the events and work items that c gives to the
// store. item is not called for a missing completion.
func WithContents(c Call, event func(engine.Event) engine.Event, item func(engine.WorkItem) engine.WorkItem) Call {
	switch r := c.(type) {
	case EnqueueForOrchestrator:
		r.Item = item(r.Item)
		return r
	case EnqueueForWorker:
		r.Item = item(r.Item)
		return r
	case AckWorkItem:
		if r.Completion != nil {
			r.Completion = item(r.Completion)
		}
		return r
	case AppendWithExecution:
		r.Events = each(r.Events, event)
		return r
	case AckOrchestrationItem:
		r.HistoryDelta = each(r.HistoryDelta, event)
		r.WorkerItems, r.OrchestratorItems = each(r.WorkerItems, item), each(r.OrchestratorItems, item)
		return r
	}
	return c
}

func each[T any](list []T, change func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = change(list[i])
	}
	return list
}
