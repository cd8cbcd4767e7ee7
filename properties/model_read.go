package properties

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
)

// execution is the execution of that id, nil if nothing is known of it.
func (in *instanceState) execution(id uint64) *executionState {
	if id >= 1 && id <= uint64(len(in.executions)) && in.executions[id-1].id == id {
		return in.executions[id-1]
	}
	if i, ok := in.findExecution(id); ok {
		return in.executions[i]
	}
	return nil
}

func (in *instanceState) findExecution(id uint64) (int, bool) {
	return slices.BinarySearchFunc(in.executions, id, func(ex *executionState, id uint64) int { return cmp.Compare(ex.id, id) })
}

// latest is the execution that a fetch speaks of: the current one, or for an instance without a row the one with the
// largest id that has a row, else execution 1. It is nil if nothing is known of that one.
func (in *instanceState) latest() *executionState {
	if in.created {
		return in.execution(in.currentID)
	}
	for i := len(in.executions) - 1; i >= 0; i-- {
		if in.executions[i].created {
			return in.executions[i]
		}
	}
	return in.execution(engine.InitialExecutionID)
}

// pin is what a filter looks at: the pin of the current execution, nil if it has none. An instance without a row has
// none, whatever its executions say (docs/contract/provider.md#p6.4).
func (in *instanceState) pin() *engine.Version {
	if !in.created {
		return nil
	}
	if ex := in.execution(in.currentID); ex != nil {
		return ex.pin
	}
	return nil
}

// status is the current execution's status, empty if there is none.
func (in *instanceState) status() engine.Status {
	if !in.created {
		return ""
	}
	if ex := in.execution(in.currentID); ex != nil && ex.created {
		return ex.status
	}
	return ""
}

// locked says whether somebody holds the instance at a time.
func (in *instanceState) locked(nowMs int64) bool { return in.lock.live(nowMs) }

// visible says whether a message for the instance is visible at a time.
func (in *instanceState) visible(nowMs int64) bool {
	for _, r := range in.queue {
		if r.visibleMs <= nowMs {
			return true
		}
	}
	return false
}

// hasContext says whether a fetch at a time would know what the instance runs: from its row, from its history, or from a
// visible start. Without that its batch is dropped or left.
func (in *instanceState) hasContext(m *model, nowMs int64) bool {
	if in.created {
		return true
	}
	if ex := in.latest(); ex != nil && ex.kinds.has(m.kinds.started) {
		return true
	}
	for _, r := range in.queue {
		if r.visibleMs <= nowMs && isStart(r.kind) {
			return true
		}
	}
	return false
}

// before is the instance as it was when a call began.
func (in *instanceState) before(call uint64) instanceWas {
	if call != 0 && in.was.call == call {
		return in.was
	}
	return instanceWas{call: call, created: in.created, currentID: in.currentID, lock: in.lock}
}

// before is the execution as it was when a call began.
func (ex *executionState) before(call uint64) executionWas {
	if call != 0 && ex.was.call == call {
		return ex.was
	}
	return ex.now(call)
}

func (ex *executionState) now(call uint64) executionWas {
	return executionWas{
		call: call, created: ex.created, status: ex.status, output: ex.output, pin: ex.pin, events: len(ex.events), kinds: ex.kinds,
		terminals: ex.terminals,
	}
}

// event is the event of that id, nil if there is none. The pointer is good until the history changes.
func (ex *executionState) event(id uint64) *eventState {
	if id >= 1 && id <= uint64(len(ex.events)) && ex.events[id-1].id == id {
		return &ex.events[id-1]
	}
	if i, ok := ex.findEvent(id); ok {
		return &ex.events[i]
	}
	return nil
}

func (ex *executionState) findEvent(id uint64) (int, bool) {
	if n := len(ex.events); n == 0 || ex.events[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(ex.events, id, func(e eventState, id uint64) int { return cmp.Compare(e.id, id) })
}

// before is the row as it was when a call began.
func (r *rowState) before(call uint64) rowWas {
	if call != 0 && r.was.call == call {
		return r.was
	}
	return rowWas{call: call, present: r.present, count: r.count, visibleMs: r.visibleMs, lock: r.lock}
}

func isStart(k engine.WorkItemKind) bool {
	return k == engine.ItemStartOrchestration || k == engine.ItemContinueAsNew
}
