package oracle

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// This file only accepts. The rules keep every state and build a new one for each possibility, which is slow. Where one
// state is left and the contract leaves nothing open, the answers of the most frequent calls are confirmed here, and the
// state is changed in place. Whatever is not confirmed goes to the rules. TestConfirmations compares the two.

// room is memory for confirmations.
type room struct {
	kinds  map[kindOf]bool // whether a codec encodes items of a kind; never iterated over, so map order does not matter
	seen   []*instance
	batch  []int
	judge  judge
	answer answer
}

type kindOf struct {
	codec engine.Codec
	kind  engine.WorkItemKind
}

// confirms reports whether the answer is surely allowed, and changes the only state accordingly.
func (o *Oracle) confirms(e *Exchange, codec engine.Codec) bool {
	if len(o.states) != 1 || o.options.slow || e.Lost || e.Failing || e.Answer.Err != nil || e.At.Lo < o.latest {
		return false
	}
	if _, forgetful := codec.(engine.ForgetfulCodec); forgetful {
		return false
	}
	s, j := o.states[0], &o.room.judge
	o.room.answer = answer{Answer: &e.Answer}
	*j = judge{options: o.options, call: e.Call, answer: &o.room.answer, at: e.At, codec: codec, room: &o.room, touched: &o.touched}
	switch r := e.Call.(type) {
	case call.FetchOrchestrationItem:
		return s.confirmFetch(j, &r)
	case call.AckOrchestrationItem:
		return s.confirmAck(j, &r)
	case call.EnqueueForOrchestrator:
		if r.Item == nil || r.Item.Kind() == engine.ItemActivityExecute || !j.surelyDecodes(r.Item) {
			return false
		}
		s.enqueue(r.Item, j.at.plus(r.Delay.Milliseconds()))
		return true
	case call.FetchWorkItem:
		return s.confirmFetchWork(j, &r)
	case call.AckWorkItem:
		return s.confirmAckWork(j, &r)
	}
	return false
}

// confirmFetch confirms that a fetch has returned the first instance that it must return, or nothing if there is none.
// Where an instance without a row could be dropped or passed by, the rules judge.
func (s *State) confirmFetch(j *judge, r *call.FetchOrchestrationItem) bool {
	got := j.answer.Orchestration
	var d delivery
	var first *instance
	j.room.seen, j.room.batch = j.room.seen[:0], j.room.batch[:0]
	for i := range s.queue {
		m := &s.queue[i]
		visible := m.visible.reached(j.at)
		if visible.may != visible.must {
			return false
		}
		if !visible.must {
			continue
		}
		if first != nil && m.instance == first.id {
			j.room.batch = append(j.room.batch, i)
			continue
		}
		in := s.find(m.instance)
		if slices.ContainsFunc(j.room.seen, func(have *instance) bool { return have.id == in.id }) {
			continue
		}
		j.room.seen = append(j.room.seen, in)
		free := j.admits(r.Filter, in)
		if in.lock != nil {
			free = free.and(in.lock.until.reached(j.at))
		}
		if free.may != free.must {
			return false
		}
		if !free.must {
			continue
		}
		if !in.row && (len(in.history) > 0 || !isStart(m.item)) {
			return false
		}
		if first == nil {
			first = in
			j.room.batch = append(j.room.batch, i)
		}
	}
	if first == nil || got == nil {
		return first == nil && got == nil
	}
	d = delivery{instance: first.id, kind: contextRow, execution: engine.InitialExecutionID, snapshot: first.store}
	for _, i := range j.room.batch {
		m := &s.queue[i]
		if m.corrupt || !j.surelyDecodes(m.item) {
			return false
		}
		d.count = max(d.count, m.count+1)
	}
	if first.row {
		d.fromRow(first)
	} else {
		d.kind = contextStart
		d.name, d.version = startNamed([]engine.WorkItem{s.queue[j.room.batch[0]].item})
	}
	if got.Item.Instance != first.id || got.AttemptCount != d.count || got.LockToken == "" || got.Item.HistoryError != "" ||
		len(got.Item.Messages) != len(j.room.batch) || !j.decodesAll(d.history) || !j.sameEvents(got.Item.History, d.history) {
		return false
	}
	for n, i := range j.room.batch {
		if !sameItem(got.Item.Messages[n], s.queue[i].item) {
			return false
		}
	}
	if differs, _ := d.contextDiffers(j, got); differs != "" {
		return false
	}
	s.own(first.id).lock = &lock{got.LockToken, j.at.plus(r.LockTimeout.Milliseconds())}
	j.touched.Columns = append(j.touched.Columns, first.id)
	for _, i := range j.room.batch {
		m := &s.queue[i]
		m.mark, m.count = got.LockToken, m.count+1
		j.touched.Queue = append(j.touched.Queue, m.number)
	}
	return true
}

// confirmAck confirms that an ack with a live token, to which nothing in the contract objects, has succeeded.
func (s *State) confirmAck(j *judge, r *call.AckOrchestrationItem) bool {
	in, h := s.holding(j, r.LockToken)
	if in == nil || !h.live.must || r.ExecutionID == 0 {
		return false
	}
	meta := &r.Metadata
	if !in.row && ((meta.OrchestrationName == "") != (meta.OrchestrationVersion == "") || in.latest() > r.ExecutionID) {
		return false
	}
	last := uint64(0)
	if have := in.events(r.ExecutionID); len(have) > 0 {
		last = have[len(have)-1].id
	}
	for i := range r.HistoryDelta {
		e := &r.HistoryDelta[i]
		switch e.Data.(type) {
		case nil, eventdata.Opaque, eventdata.ActivityFailed, eventdata.OrchestrationFailed, eventdata.SubOrchestrationFailed: // whose details or text decide
			return false
		}
		if e.EventID <= last || j.codec != nil && !j.codec.Kinds().Has(e.Kind()) {
			return false
		}
		last = e.EventID
	}
	for _, item := range r.WorkerItems {
		if item == nil || item.Kind() != engine.ItemActivityExecute || !j.surelyDecodes(item) {
			return false
		}
	}
	for _, item := range r.OrchestratorItems {
		if item == nil || item.Kind() == engine.ItemActivityExecute || !j.surelyDecodes(item) {
			return false
		}
	}
	j.touched.ack(s, in, r)
	s.commit(j, in, *r, ackChoice{})
	return true
}

// confirmFetchWork confirms that a fetch has returned the oldest row that it may take, or nothing if there is none.
func (s *State) confirmFetchWork(j *judge, r *call.FetchWorkItem) bool {
	got := j.answer.Work
	if j.grants(f25Redelivered) {
		return false
	}
	for i := range s.work {
		w := &s.work[i]
		if !takesTag(r.Tags, w.tag()) {
			continue
		}
		ready := w.ready(j).and(s.takesSession(j, w.session(), r.Session))
		if ready.may != ready.must {
			return false
		}
		if !ready.must {
			continue
		}
		if w.corrupt || !j.surelyDecodes(w.item) || got == nil || got.AttemptCount != w.count+1 || got.LockToken == "" || !j.returns(w, got) {
			return false
		}
		s.deliver(j, w, got.LockToken, r)
		j.touched.Work = append(j.touched.Work, w.number)
		return true
	}
	return got == nil
}

func (s *State) confirmAckWork(j *judge, r *call.AckWorkItem) bool {
	w, h := s.holdingRow(j, r.LockToken)
	if w == nil || !h.live.must {
		return false
	}
	if c := r.Completion; c != nil && (c.Kind() != engine.ItemActivityCompleted && c.Kind() != engine.ItemActivityFailed || !j.surelyDecodes(c)) {
		return false
	}
	j.touched.Work = append(j.touched.Work, w.number)
	s.complete(j, w.position, r.Completion)
	return true
}

// ack adds what a confirmed ack changes. Rows without a number need not be added.
func (t *Touched) ack(s *State, in *instance, r *call.AckOrchestrationItem) {
	t.Executions = append(t.Executions, ExecutionID{in.id, r.ExecutionID})
	t.Columns = append(t.Columns, in.id)
	for i := range s.queue {
		if m := &s.queue[i]; m.instance == in.id && m.mark == r.LockToken {
			t.Queue = append(t.Queue, m.number)
		}
	}
	for i := 0; i < len(s.work) && len(r.CancelledActivities) > 0; i++ {
		if w := &s.work[i]; w.cancelledBy(r) {
			t.Work = append(t.Work, w.number)
		}
	}
}

// own returns an instance for modification in place, adding it first if it is missing. Only a state that shares nothing
// with any other may be modified in place.
func (s *State) own(id string) *instance {
	at, found := s.search(id)
	if !found {
		s.instances = slices.Insert(s.instances, at, &instance{id: id})
	}
	return s.instances[at]
}
