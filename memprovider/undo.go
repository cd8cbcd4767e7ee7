package memprovider

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// undo records how to undo one change made by an ack.
type undo struct {
	op    undoOp
	in    *instance
	ex    *execution
	row   *row
	id    uint64
	lock  lock
	pin   *engine.Version
	meta  *instanceMeta
	state *executionState
	event *event
	kv    *kvChange
}

type undoOp uint8

const (
	undoLock undoOp = iota
	undoInsert
	undoRemove
	undoMeta
	undoCreate
	undoPin
	undoStatus
	undoAppend
	undoRemoveEvent
	undoKV
)

// note records, during an ack, how to undo a change.
func (s *Store) note(u undo) {
	if s.journaling {
		s.journal = append(s.journal, u)
	}
}

func (s *Store) noteMeta(in *instance) {
	if s.journaling {
		old := s.arena.metas.New()
		*old = in.meta
		s.note(undo{op: undoMeta, in: in, meta: old})
	}
}

// forgetJournal stops recording and keeps the changes.
func (s *Store) forgetJournal() {
	clear(s.journal)
	s.journal, s.journaling = s.journal[:0], false
}

// takeBack undoes all recorded changes in reverse order, each with its own observation.
func (s *Store) takeBack() {
	s.journaling, s.undoing = false, true
	for i := len(s.journal) - 1; i >= 0; i-- {
		s.takeBackOne(&s.journal[i])
	}
	s.undoing = false
	s.forgetJournal()
}

func (s *Store) takeBackOne(u *undo) {
	switch u.op {
	case undoLock:
		s.takeLock(u.in, u.lock)
	case undoInsert:
		s.remove(u.row, observe.RemovedUndone)
	case undoRemove:
		s.restore(u.row)
	case undoMeta:
		s.takeBackMeta(u.in, u.meta)
	case undoCreate:
		u.ex.state = executionState{}
		s.dropRoom(u.in, u.ex)
		s.touch(u.in)
		s.tell(s.observeExecution(observe.ExecutionRemoved, u.in, u.ex.id))
	case undoPin:
		u.ex.pin = u.pin
		s.touch(u.in)
		s.observePin(u.in, u.ex)
	case undoStatus:
		u.ex.state = *u.state
		s.observeStatus(u.in, u.ex)
	case undoAppend:
		s.removeEvent(u.in, u.ex, u.id)
		s.dropRoom(u.in, u.ex)
	case undoRemoveEvent:
		s.appendEvent(u.in, u.ex, u.event.id, u.event.kind, u.event.data)
	case undoKV:
		s.setKV(u.in, u.kv.table, u.kv.row, u.kv.had)
	default:
		panic("memprovider: unknown change in the journal")
	}
}

// takeBackMeta restores an instances row and emits observations of what changed.
func (s *Store) takeBackMeta(in *instance, old *instanceMeta) {
	was := in.meta
	in.meta = *old
	s.moveChild(in, was.parent.Instance)
	s.touch(in)
	if !old.created {
		s.tell(s.observeExecution(observe.InstanceRemoved, in, 0))
		return
	}
	if was.orchestration != old.orchestration || was.version != old.version {
		s.observeCreated(in)
	}
	if was.current != old.current {
		s.observePointer(in)
	}
	if was.parent != old.parent {
		s.observeParent(in)
	}
	if was.customVersion != old.customVersion {
		s.observeCustomStatus(in)
	}
}
