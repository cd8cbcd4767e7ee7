package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

// Execution returns the execution with the given id, or nil if it is unknown.
func (in *Instance) Execution(id uint64) *Execution {
	if at := id - 1; at < uint64(len(in.Executions)) && in.Executions[at].ID == id {
		return in.Executions[at]
	}
	return in.search(id)
}

func (in *Instance) search(id uint64) *Execution {
	if i, ok := in.findExecution(id); ok {
		return in.Executions[i]
	}
	return nil
}

func (in *Instance) findExecution(id uint64) (int, bool) {
	return slices.BinarySearchFunc(in.Executions, id, func(ex *Execution, id uint64) int { return cmp.Compare(ex.ID, id) })
}

// Latest returns the execution that a fetch delivers, or nil if that execution is unknown. If the instance has a row,
// that is the current execution. Otherwise, it is the one with the largest id that has a row, or else execution 1.
func (in *Instance) Latest() *Execution {
	if in.Created {
		return in.Execution(in.CurrentID)
	}
	for i := len(in.Executions) - 1; i >= 0; i-- {
		if in.Executions[i].Created {
			return in.Executions[i]
		}
	}
	return in.Execution(engine.InitialExecutionID)
}

// Pin returns the pin that filters are applied to, which is the current execution's, or nil if it has none. An instance
// without a row has no pin, whatever its executions have (docs/contract/provider.md#p6.4).
func (in *Instance) Pin() *engine.Version {
	if !in.Created {
		return nil
	}
	if ex := in.Execution(in.CurrentID); ex != nil {
		return ex.Pin
	}
	return nil
}

// Tested returns the pin that a node compares with its range: the stored one or, if there is none, the version in the
// current history's first OrchestrationStarted that has one (docs/contract/runtime.md#r5.1). Rows written before stores
// had the column, or by an import, have no pin: the filter lets every node have them, and then the node looks itself.
func (m *Shadow) Tested(in *Instance) *engine.Version {
	pin := in.Pin()
	if ex := in.Latest(); pin == nil && ex != nil {
		return m.Stamp(ex)
	}
	return pin
}

// Stamp returns the version of the build that began an execution, as its history tells, or nil if that does not tell.
func (m *Shadow) Stamp(ex *Execution) *engine.Version {
	for i := range ex.Events {
		e := m.Decoded(&ex.Events[i])
		if _, is := e.Data.(eventdata.OrchestrationStarted); !is {
			continue
		}
		if v, err := engine.ParseVersion(e.DuroxideVersion); err == nil {
			return &v
		}
	}
	return nil
}

// Status returns the current execution's status, or "" if there is none.
func (in *Instance) Status() engine.Status {
	if !in.Created {
		return ""
	}
	if ex := in.Execution(in.CurrentID); ex != nil && ex.Created {
		return ex.Status
	}
	return ""
}

// Leftover reports whether an instance has ended, and whoever takes what is queued for it only drops that: a timer that lost
// a race, say. A start that a parent has sent is no such thing, since the parent waits for the answer.
func (in *Instance) Leftover() bool {
	if s := in.Status(); s != engine.StatusCompleted && s != engine.StatusFailed {
		return false
	}
	return !slices.ContainsFunc(in.Queue, func(r *Row) bool {
		start, ok := r.Item.(engine.StartItem)
		return IsStart(r.Kind) && (!ok || start.ParentInstance != "")
	})
}

// Locked reports whether a caller holds the instance at the given time.
func (in *Instance) Locked(nowMs int64) bool { return in.Lock.Live(nowMs) }

// Visible reports whether any message for the instance is visible at the given time.
func (in *Instance) Visible(nowMs int64) bool {
	for _, r := range in.Queue {
		if r.VisibleMs <= nowMs {
			return true
		}
	}
	return false
}

// HasContext reports whether a fetch at the given time would know what the instance runs: from its row, from its
// history, or from a visible start message. A batch without context is dropped or stays queued.
func (in *Instance) HasContext(m *Shadow, nowMs int64) bool {
	if in.Created {
		return true
	}
	if ex := in.Latest(); ex != nil && ex.Kinds.Has(m.Kinds.Started) {
		return true
	}
	for _, r := range in.Queue {
		if r.VisibleMs <= nowMs && IsStart(r.Kind) {
			return true
		}
	}
	return false
}

// Before returns the instance's state as it was when the call began, which is read-only and valid until the next call.
func (in *Instance) Before(call uint64) *InstanceBefore {
	if call != 0 && in.Was.call == call {
		return &in.Was
	}
	return &InstanceBefore{call: call, Created: in.Created, CurrentID: in.CurrentID, Lock: in.Lock}
}

// Before returns the execution's state as it was when the call began, which is read-only and valid until the next call.
func (ex *Execution) Before(call uint64) *ExecutionBefore {
	if call != 0 && ex.Was.call == call {
		return &ex.Was
	}
	now := ex.now(call)
	return &now
}

func (ex *Execution) now(call uint64) ExecutionBefore {
	return ExecutionBefore{
		call: call, Created: ex.Created, Status: ex.Status, Pin: ex.Pin, Events: len(ex.Events), Kinds: ex.Kinds,
		Terminals: ex.Terminals,
	}
}

// Event returns the event with the given id, or nil if there is none. The pointer is valid until the history changes.
func (ex *Execution) Event(id uint64) *Event {
	if id >= 1 && id <= uint64(len(ex.Events)) && ex.Events[id-1].ID == id {
		return &ex.Events[id-1]
	}
	if i, ok := ex.findEvent(id); ok {
		return &ex.Events[i]
	}
	return nil
}

func (ex *Execution) findEvent(id uint64) (int, bool) {
	if n := len(ex.Events); n == 0 || ex.Events[n-1].ID < id {
		return n, false
	}
	return slices.BinarySearchFunc(ex.Events, id, func(e Event, id uint64) int { return cmp.Compare(e.ID, id) })
}

// Before returns the row's state as it was when the call began, which is read-only and valid until the next call.
func (r *Row) Before(call uint64) *RowBefore {
	if call != 0 && r.Was.call == call {
		return &r.Was
	}
	return &RowBefore{call: call, Present: r.Present, Count: r.Count, VisibleMs: r.VisibleMs, Lock: r.Lock}
}

// LockBefore returns the lock that an observation of a lock is about, as it was when the call began. It is read-only and
// valid until the next call.
func (m *Shadow) LockBefore(o *observe.Observation) *Lock {
	if o.Message != 0 {
		return &m.Row(o.Message).Before(o.Call).Lock
	}
	return &m.Instance(o.Instance).Before(o.Call).Lock
}

// Failure returns why an execution failed. The details come from the last event in its history that has any, decoded by
// any build in the run.
func (m *Shadow) Failure(ex *Execution) (d engine.ErrorDetails, ok bool) {
	for i := len(ex.Events) - 1; i >= 0; i-- {
		if !m.Kinds.Terminal.Has(ex.Events[i].Kind) {
			continue
		}
		if f, is := m.Data(&ex.Events[i]).(eventdata.OrchestrationFailed); is {
			return f.Details, true
		}
	}
	return d, false
}

// Decoded returns an event, decoded by the first build in the run that can. It returns an empty one if none can.
func (m *Shadow) Decoded(e *Event) engine.Event {
	for _, b := range m.Builds {
		if decoded, err := b.Codec.DecodeEvent(e.Bytes); err == nil {
			return decoded
		}
	}
	return engine.Event{}
}

// Data returns an event's data, decoded by the first build in the run that can. It returns nil if none can.
func (m *Shadow) Data(e *Event) engine.EventData { return m.Decoded(e).Data }

func IsStart(k engine.WorkItemKind) bool {
	return k == engine.ItemStartOrchestration || k == engine.ItemContinueAsNew
}

// StartQueued reports whether a start message for the instance is queued, visible or not.
func StartQueued(in *Instance) bool {
	for _, r := range in.Queue {
		if IsStart(r.Kind) {
			return true
		}
	}
	return false
}

// WaitsForStart reports whether a message is input for an execution whose start is still queued.
func WaitsForStart(in *Instance, r *Row) bool {
	return !IsStart(r.Kind) && (StartQueued(in) || in.Status() == engine.StatusContinuedAsNew)
}

// HeldBy returns the instance that the call's token had locked when the call began. It returns nil if the call touched
// no such instance.
func HeldBy(c *Call) *Instance {
	for _, in := range c.Instances {
		if in.Was.Lock.Token != "" && in.Was.Lock.Token == c.Request.Token {
			return in
		}
	}
	return nil
}

func PinText(pin *engine.Version) string {
	if pin == nil {
		return "none"
	}
	return pin.String()
}

// ItemText describes a message.
func ItemText(r *Row) string {
	kind := r.Kind
	if kind == "" {
		kind = "message of unknown kind"
	}
	if r.ID != 0 {
		return fmt.Sprintf("%s %d/%d (message %d)", kind, r.Execution, r.ID, r.No)
	}
	return fmt.Sprintf("%s (message %d)", kind, r.No)
}

func SamePin(a, b *engine.Version) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Compare(*b) == 0
}
