package memprovider

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
)

// instance holds everything that the store has for one instance name: the instances row, the executions with their
// histories, the queued messages, and the lock. An instance that has only been mentioned has none of these.
type instance struct {
	no   InstanceNo
	name string
	// meta is the instances row.
	meta instanceMeta
	// executions is sorted by id.
	executions []*execution
	// visible holds the queued messages with visibleAt <= now, sorted by row number; delayed holds the others, sorted
	// by visibleAt and row number. Invariant: together they are the instance's rows in the orchestrator queue. While no
	// call is in progress, every message that is due is in visible unless the instance is locked.
	visible, delayed []*row
	// Counts over visible and delayed, to detect orphans without a scan.
	visibleQueueMessages, visibleStarts, delayedStarts int
	// work holds the instance's rows in the worker queue, sorted by row number.
	work []*row
	// kv is the key-value state, or nil until a key is first set or cleared.
	kv *kvState
	// lock is the instance lock. An expired lock is kept until it is replaced or released.
	lock  lock
	place place // in the index
	dirty bool
}

// instanceMeta is an instances row. The row exists only if created is set.
type instanceMeta struct {
	created       bool
	orchestration string
	version       string
	current       uint64
	parent        engine.ParentLink
	createdMs     int64
	updatedMs     int64
	// customStatus is nil if it was never set or has been reset. customVersion counts the acks that set or reset it.
	customStatus  *string
	customVersion uint64
}

// lock is a peek-lock. The zero value is "no lock".
type lock struct {
	number  uint64 // the token's number, from 1
	token   string
	takenMs int64
	untilMs int64
}

// live reports whether the lock is held. At exactly untilMs it has expired.
func (l *lock) live(now int64) bool { return l.number != 0 && l.untilMs > now }

// execution is an executions row with its history. A history may exist without the row (AppendWithExecution).
type execution struct {
	id    uint64
	state executionState
	pin   *engine.Version // interned, without a pre-release part
	// events is sorted by id; started counts the OrchestrationStarted events.
	events  []event
	started int
	// decoded holds the decoded histories, indexed by codec number.
	decoded []*decodedHistory
}

type executionState struct {
	created     bool
	status      engine.Status
	output      *string
	startedMs   int64
	completed   bool
	completedMs int64
}

// event is a history row. Its bytes are never modified.
type event struct {
	id   uint64
	kind engine.EventKind // empty if only the bytes are known
	data []byte
}

func byEventID(e event, id uint64) int { return cmp.Compare(e.id, id) }

// find returns the index of the event with the given id, or the index at which to insert it.
func (ex *execution) find(id uint64) (int, bool) {
	if n := len(ex.events); n == 0 || ex.events[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(ex.events, id, byEventID)
}

// execution returns the execution with the given id, or nil.
func (in *instance) execution(id uint64) *execution {
	if n := len(in.executions); n > 0 && in.executions[n-1].id == id {
		return in.executions[n-1]
	}
	if i, ok := in.findExecution(id); ok {
		return in.executions[i]
	}
	return nil
}

func (in *instance) findExecution(id uint64) (int, bool) {
	return slices.BinarySearchFunc(in.executions, id, func(ex *execution, id uint64) int { return cmp.Compare(ex.id, id) })
}

// latest returns the highest id that has an executions row, or 1 if none has.
func (in *instance) latest() uint64 {
	for i := len(in.executions) - 1; i >= 0; i-- {
		if in.executions[i].state.created {
			return in.executions[i].id
		}
	}
	return engine.InitialExecutionID
}

// hasContext reports whether a fetch can determine the orchestration without a start message: from the instance's row,
// or from the start event of its latest execution.
func (in *instance) hasContext() bool {
	if in.meta.created {
		return true
	}
	ex := in.execution(in.latest())
	return ex != nil && ex.started > 0
}

// pins returns the pins of the current and of the first execution. An instance without a row has no pins, even if its
// executions have (docs/contract/provider.md#p6.4).
func (in *instance) pins() (current, first *engine.Version, ended bool) {
	if !in.meta.created {
		return nil, nil, false
	}
	if ex := in.execution(in.meta.current); ex != nil {
		current = ex.pin
		ended = ex.state.status == engine.StatusCompleted || ex.state.status == engine.StatusFailed
	}
	if len(in.executions) > 0 {
		first = in.executions[0].pin
	}
	return current, first, ended
}

// empty reports whether the instance has nothing but a number. Keys never outlive the executions that set them.
func (in *instance) empty() bool {
	return !in.meta.created && len(in.executions) == 0 && len(in.visible) == 0 && len(in.delayed) == 0 && len(in.work) == 0 && in.lock.number == 0
}

// attach adds a queued message to visible or delayed.
func (in *instance) attach(a *Arena, r *row, now int64) {
	if r.visibleMs <= now {
		in.visible = a.insertRow(in.visible, r, byNumber)
		in.visibleQueueMessages += countIf(r.kind == engine.ItemQueueMessage)
		in.visibleStarts += countIf(isStart(r.kind))
		r.isVisible = true
		return
	}
	in.delayed = a.insertRow(in.delayed, r, byTime)
	in.delayedStarts += countIf(isStart(r.kind))
	r.isVisible = false
}

// detach removes a queued message from visible or delayed.
func (in *instance) detach(r *row) {
	if r.isVisible {
		in.visible = deleteRow(in.visible, r, byNumber)
		in.visibleQueueMessages -= countIf(r.kind == engine.ItemQueueMessage)
		in.visibleStarts -= countIf(isStart(r.kind))
		return
	}
	in.delayed = deleteRow(in.delayed, r, byTime)
	in.delayedStarts -= countIf(isStart(r.kind))
}

// promote moves messages that have become visible from delayed to visible.
func (in *instance) promote(a *Arena, now int64) {
	for len(in.delayed) > 0 && in.delayed[0].visibleMs <= now {
		r := in.delayed[0]
		in.detach(r)
		in.attach(a, r, now)
	}
}

// nextMs returns the next time at which, without a call, the instance may become ready or its oldest visible message
// may change.
func (in *instance) nextMs(locked bool) int64 {
	at := Never
	if len(in.delayed) > 0 {
		at = in.delayed[0].visibleMs
	}
	switch {
	case !locked:
		return at
	case len(in.visible) > 0:
		return in.lock.untilMs
	case at == Never:
		return Never
	}
	return max(at, in.lock.untilMs)
}

func isStart(k engine.WorkItemKind) bool {
	return k == engine.ItemStartOrchestration || k == engine.ItemContinueAsNew
}

func countIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
