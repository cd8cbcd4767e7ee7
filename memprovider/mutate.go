package memprovider

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// This file has all primitives that change the store's state, except for time and caches. Each primitive makes one
// change, emits an observation of it and, during an ack, records how to undo it. No other code writes these fields.

// takeLock gives the instance lock to a token, even if another token holds it. Acks take no locks, so there is nothing
// to undo.
func (s *Store) takeLock(in *instance, l lock) {
	in.lock = l
	s.touch(in)
	s.observeLock(observe.LockTaken, in, &in.lock)
}

func (s *Store) extendLock(in *instance, untilMs int64) {
	in.lock.untilMs = untilMs
	s.touch(in)
	s.observeLock(observe.LockExtended, in, &in.lock)
}

func (s *Store) releaseLock(in *instance) {
	if in.lock.number == 0 {
		return
	}
	s.note(undo{op: undoLock, in: in, lock: in.lock})
	old := in.lock
	in.lock = lock{}
	s.touch(in)
	s.observeLock(observe.LockReleased, in, &old)
	if ex := in.execution(in.latest()); len(s.instances) > restFrom && ex != nil && ex.state.status.Terminal() {
		ex.rest()
	}
}

// mark records that the fetch with the given lock took a message.
func (s *Store) mark(r *row, l *lock) {
	r.lock = lock{number: l.number, token: l.token}
	if o := s.observeRow(observe.MessageMarked, r); o != nil {
		o.Queue, o.Token = observe.QueueNone, l.token
		s.send()
	}
}

func (s *Store) setCount(r *row, count uint32) {
	if r.count == count {
		return
	}
	old := r.count
	r.count = count
	if o := s.observeRow(observe.CountChanged, r); o != nil {
		o.OldCount, o.NewCount = old, count
		s.send()
	}
}

func (s *Store) takeRow(r *row, l lock) {
	r.lock = l
	s.placeWork(r)
	s.observeRowLock(observe.LockTaken, r, &r.lock)
}

func (s *Store) extendRow(r *row, untilMs int64) {
	r.lock.untilMs = untilMs
	s.placeWork(r)
	s.observeRowLock(observe.LockExtended, r, &r.lock)
}

func (s *Store) releaseRow(r *row) {
	old := r.lock
	r.lock = lock{}
	s.placeWork(r)
	s.observeRowLock(observe.LockReleased, r, &old)
}

func (s *Store) placeWork(r *row) {
	s.workGeneration++
	s.work.update(r, s.now, s.own)
}

// insert appends a message to its queue and assigns its number. codec is the codec that wrote data.
func (s *Store) insert(queue observe.Queue, in *instance, item engine.WorkItem, data []byte, codec int, visibleMs int64) *row {
	r := s.arena.rows.New()
	r.no, r.queue, r.in, r.kind, r.data, r.visibleMs = MessageNo(len(s.rows)+1), queue, in, item.Kind(), data, visibleMs
	if readsAsWritten(s.codecs[codec], data) {
		r.own.codec, r.own.item = codec+1, item
	}
	if a, ok := engine.Known(item).(engine.ActivityExecuteItem); ok {
		if f, forgets := s.codecs[codec].(engine.ForgetfulCodec); forgets { // columns have what the build knows
			written, _ := f.DecodeWorkItem(data)
			a, _ = engine.Known(written).(engine.ActivityExecuteItem)
		}
		r.execution, r.activity, r.tag, r.sessionID = a.ExecutionID, a.ID, s.rules.TagStored(a.Tag), a.SessionID
	}
	s.rows = append(s.rows, r)
	s.note(undo{op: undoInsert, row: r})
	s.link(r)
	if o := s.observeRow(observe.RowInserted, r); o != nil {
		o.Item, o.Bytes, o.UntilMs, o.Execution, o.EventID = item, data, visibleMs, r.execution, r.activity
		s.send()
	}
	return r
}

func (s *Store) remove(r *row, reason observe.RemoveReason) {
	s.note(undo{op: undoRemove, row: r})
	s.unlink(r)
	s.rows[r.no-1] = nil
	if o := s.observeRow(observe.RowRemoved, r); o != nil {
		o.Reason = reason
		s.send()
	}
}

// restore undoes the removal of a message.
func (s *Store) restore(r *row) {
	s.rows[r.no-1] = r
	s.link(r)
	s.tell(s.observeRow(observe.RowRestored, r))
}

func (s *Store) link(r *row) {
	if r.queue == observe.QueueWorker {
		r.in.work = s.arena.insertRow(r.in.work, r, byNumber)
		s.enterWork(r)
		return
	}
	r.in.attach(s.arena, r, s.now)
	s.touch(r.in)
}

func (s *Store) enterWork(r *row) {
	var of *session
	if r.sessionID != "" {
		of = s.sessionNamed(r.sessionID)
		of.rows++
	}
	s.work.enter(r, of)
	s.placeWork(r)
}

func (s *Store) leaveWork(r *row) {
	s.workGeneration++
	g := r.group
	s.work.leave(r)
	s.work.place(g, s.now, s.own)
	if x := g.session; x != nil {
		x.rows--
		s.forgetSession(x)
	}
}

func (s *Store) unlink(r *row) {
	if r.queue == observe.QueueWorker {
		r.in.work = deleteRow(r.in.work, r, byNumber)
		s.leaveWork(r)
		return
	}
	r.in.detach(r)
	s.touch(r.in)
}

// delay changes when a message becomes visible.
func (s *Store) delay(r *row, visibleMs int64) {
	if r.queue == observe.QueueWorker {
		r.visibleMs = visibleMs
		s.placeWork(r)
	} else {
		r.in.detach(r)
		r.visibleMs = visibleMs
		r.in.attach(s.arena, r, s.now)
		s.touch(r.in)
	}
	if o := s.observeRow(observe.RowDelayed, r); o != nil {
		o.UntilMs = visibleMs
		s.send()
	}
}

// setRow creates the instances row, or changes the orchestration's name and version in it.
func (s *Store) setRow(in *instance, orchestration, version string, current uint64) {
	if in.meta.created && in.meta.orchestration == orchestration && in.meta.version == version {
		return
	}
	s.noteMeta(in)
	if !in.meta.created {
		in.meta = instanceMeta{created: true, current: current, createdMs: s.now}
	}
	in.meta.orchestration, in.meta.version, in.meta.updatedMs = orchestration, version, s.now
	s.touch(in)
	s.observeCreated(in)
}

func (s *Store) observeCreated(in *instance) {
	if o := s.observeExecution(observe.InstanceCreated, in, in.meta.current); o != nil {
		o.Name, o.Token = in.meta.orchestration, in.meta.version
		s.send()
	}
}

// removeRow removes the instances row. Acks never do this, so there is nothing to undo.
func (s *Store) removeRow(in *instance) {
	was := in.meta.parent.Instance
	in.meta = instanceMeta{}
	s.moveChild(in, was)
	s.touch(in)
	s.tell(s.observeExecution(observe.InstanceRemoved, in, 0))
}

func (s *Store) setParent(in *instance, parent engine.ParentLink) {
	s.noteMeta(in)
	was := in.meta.parent.Instance
	in.meta.parent = parent
	s.moveChild(in, was)
	s.observeParent(in)
}

// moveChild updates the index of children after the instance's parent has changed. The previous parent is was.
func (s *Store) moveChild(in *instance, was string) {
	is := in.meta.parent.Instance
	if is == was {
		return
	}
	if was != "" {
		s.childrenOf[was] = slices.DeleteFunc(s.childrenOf[was], func(have *instance) bool { return have == in })
		if len(s.childrenOf[was]) == 0 {
			delete(s.childrenOf, was)
		}
	}
	if is != "" {
		if s.childrenOf == nil {
			s.childrenOf = make(map[string][]*instance)
		}
		have := s.childrenOf[is]
		i, _ := slices.BinarySearchFunc(have, in.no, func(c *instance, no InstanceNo) int { return cmp.Compare(c.no, no) })
		s.childrenOf[is] = slices.Insert(have, i, in)
	}
}

func (s *Store) observeParent(in *instance) {
	if o := s.observeExecution(observe.ParentSet, in, in.meta.parent.ExecutionID); o != nil {
		o.Name, o.EventID = in.meta.parent.Instance, in.meta.parent.EventID
		s.send()
	}
}

func (s *Store) setPointer(in *instance, execution uint64) {
	if in.meta.current == execution {
		return
	}
	s.noteMeta(in)
	in.meta.current = execution
	s.touch(in)
	s.observePointer(in)
}

func (s *Store) observePointer(in *instance) {
	s.tell(s.observeExecution(observe.PointerSet, in, in.meta.current))
}

// damage replaces the stored bytes of message r or, if r is nil, of event i.
func (s *Store) damage(in *instance, ex *execution, i int, r *row, data []byte) {
	o := s.observe(observe.Damaged)
	if r != nil {
		r.data, r.own, r.more = data, decodedItem{}, nil
		if o != nil {
			o.Queue, o.Message = r.queue, r.no
		}
	} else {
		ex.forget(i)
		ex.events[i].data = data
		if o != nil {
			o.Execution, o.EventID = ex.id, ex.events[i].id
		}
	}
	if o != nil {
		o.Instance, o.Bytes = in.no, data
		s.send()
	}
}
