package memprovider

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

// This file continues mutate.go with the primitives for executions and their histories.

// historyOf returns the execution with the given id. If there is none, it creates one without an executions row.
func (s *Store) historyOf(in *instance, id uint64) *execution {
	if ex := in.execution(id); ex != nil {
		return ex
	}
	ex := s.arena.executions.New()
	ex.id = id
	i, _ := in.findExecution(id)
	in.executions = s.arena.lists.Insert(in.executions, i, ex)
	s.touch(in)
	return ex
}

// dropRoom removes an execution that has neither a row nor a history.
func (s *Store) dropRoom(in *instance, ex *execution) {
	if !ex.state.created && len(ex.events) == 0 && ex.pin == nil {
		if i, ok := in.findExecution(ex.id); ok {
			in.executions = slices.Delete(in.executions, i, i+1)
			s.touch(in)
		}
	}
}

// create inserts the executions row, with status Running.
func (s *Store) create(in *instance, id uint64) *execution {
	ex := s.historyOf(in, id)
	if ex.state.created {
		return ex
	}
	s.note(undo{op: undoCreate, in: in, ex: ex})
	ex.state = executionState{created: true, status: engine.StatusRunning, startedMs: s.now}
	s.touch(in)
	if o := s.observeExecution(observe.ExecutionCreated, in, id); o != nil {
		o.Status = ex.state.status
		s.send()
	}
	return ex
}

func (s *Store) setPin(in *instance, ex *execution, pin *engine.Version) {
	if ex.pin == pin {
		return
	}
	s.note(undo{op: undoPin, in: in, ex: ex, pin: ex.pin})
	ex.pin = pin
	s.touch(in)
	s.observePin(in, ex)
}

func (s *Store) observePin(in *instance, ex *execution) {
	if o := s.observeExecution(observe.PinSet, in, ex.id); o != nil {
		o.Pin = ex.pin
		s.send()
	}
}

func (s *Store) setStatus(in *instance, ex *execution, status engine.Status, output *string) {
	if s.journaling {
		old := s.arena.states.New()
		*old = ex.state
		s.note(undo{op: undoStatus, in: in, ex: ex, state: old})
	}
	ex.state.status, ex.state.output = status, output
	ex.state.completed, ex.state.completedMs = true, s.now
	s.observeStatus(in, ex)
}

func (s *Store) observeStatus(in *instance, ex *execution) {
	if o := s.observeExecution(observe.StatusSet, in, ex.id); o != nil {
		o.Status = ex.state.status
		if ex.state.output != nil {
			o.Name = *ex.state.output
		}
		s.send()
	}
}

// appendEvent adds a history row. kind is empty if only the bytes are known. It panics on a duplicate key.
func (s *Store) appendEvent(in *instance, ex *execution, id uint64, kind engine.EventKind, data []byte) {
	i, dup := ex.find(id)
	if dup {
		panic("memprovider: an event is appended twice")
	}
	s.note(undo{op: undoAppend, in: in, ex: ex, id: id})
	if i < len(ex.events) {
		ex.forget(i)
	}
	if ex.events == nil {
		ex.events = s.arena.events.Make(usualEvents)
	}
	ex.events = s.arena.events.Insert(ex.events, i, event{id: id, kind: kind, data: data})
	if kind == eventdata.KindOrchestrationStarted {
		ex.started++
		s.touch(in)
	}
	if o := s.observeExecution(observe.EventAppended, in, ex.id); o != nil {
		o.EventID, o.Bytes = id, data
		s.send()
	}
}

func (s *Store) removeEvent(in *instance, ex *execution, id uint64) {
	i, ok := ex.find(id)
	if !ok {
		panic("memprovider: an event that is not there is removed")
	}
	if s.journaling {
		old := ex.events[i]
		s.note(undo{op: undoRemoveEvent, in: in, ex: ex, event: &old})
	}
	ex.forget(i)
	if ex.events[i].kind == eventdata.KindOrchestrationStarted {
		ex.started--
		s.touch(in)
	}
	ex.events = slices.Delete(ex.events, i, i+1)
	if o := s.observeExecution(observe.EventRemoved, in, ex.id); o != nil {
		o.EventID = id
		s.send()
	}
}

// removeExecution removes an execution with its history and pin. It adds the removed row, if any, and the removed
// events to the counts. Acks never do this, so there is nothing to undo.
func (s *Store) removeExecution(in *instance, ex *execution, executions, events *uint64) {
	for len(ex.events) > 0 {
		s.removeEvent(in, ex, ex.events[len(ex.events)-1].id)
		*events++
	}
	*executions += uint64(countIf(ex.state.created))
	ex.state, ex.pin = executionState{}, nil
	s.dropRoom(in, ex)
	s.tell(s.observeExecution(observe.ExecutionRemoved, in, ex.id))
}
