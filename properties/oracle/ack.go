package oracle

import (
	"math"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

var ackRules = []rule{on((*State).ackOrchestration), on((*State).enqueueForOrchestrator), on((*State).enqueueForWorker)}

// held says whether a token belongs to a lock at all, and whether that lock is live.
type held struct {
	exists bool
	live   truth
}

// holding returns the instance whose lock has the token.
func (s *State) holding(j *judge, token string) (in *instance, h held) {
	for _, in := range s.instances {
		if in.lock != nil && in.lock.token == token {
			return in, held{true, in.lock.until.reached(j.at).not()}
		}
	}
	return nil, held{}
}

// dead judges a call whose token is not live. The call must be refused; if the token is unknown, the message must
// contain one of the words.
func (j *judge) dead(section string, s *State, token string, h held, words ...string) {
	switch {
	case !h.exists:
		j.permanent(by(section, "I1 I17"), s, "token "+token+" names no holding: never given, acked, abandoned, taken over, or its work cancelled or deleted", words...)
	case !h.live.must:
		j.permanent(by(section, "I1"), s, "the lock of token "+token+" has run out")
	}
}

func (j *judge) renews(section string, s *State, token string, h held, extend func(n *State)) {
	j.dead(section, s, token, h)
	if !h.live.may {
		return
	}
	j.succeeds(by(section, "I2"), func() *State { return s.with(extend) })
	if j.answer.Err != nil {
		j.object(by(section, ""), "the lock is live")
	}
}

// abandons judges whether a token may be abandoned, and reports whether it may.
func (j *judge) abandons(section string, s *State, token string, h held) bool {
	switch {
	case !h.exists:
		j.dead(section, s, token, h)
		return false
	case !h.live.must:
		j.permanent(free(f8ExpiredAbandon, section), s, "the lock of token "+token+" has run out")
	}
	if j.answer.Err != nil {
		j.object(by(section, ""), "the token names a holding")
	}
	return true
}

// ackOrchestration judges the call against docs/contract/provider.md#p5.3.
func (s *State) ackOrchestration(j *judge, r call.AckOrchestrationItem) {
	in, h := s.holding(j, r.LockToken)
	j.dead("5.3", s, r.LockToken, h, "Invalid lock token", "lock_token")
	if in == nil {
		return
	}
	// A call that must fail anyway, because of an expired lock or an event id, may instead fail for one of the reasons
	// below, depending on what the provider checks first.
	isActivity := func(item engine.WorkItem) bool { return item.Kind() == engine.ItemActivityExecute }
	work := slices.ContainsFunc(r.WorkerItems, func(item engine.WorkItem) bool { return !isActivity(item) })
	queue := slices.ContainsFunc(r.OrchestratorItems, isActivity)
	if work || queue {
		j.fails(by("4.2", "I8"), s, "an item stands in the wrong list")
	}
	parent := r.Metadata.ParentInstanceID
	if !in.row && parent != "" && !s.find(parent).row {
		j.fails(free(f21MissingParent, "3.1"), s, "the parent has no row")
	}
	if !h.live.may {
		return
	}
	if !j.writes(r) {
		j.permanent(by("3.3", ""), s, "the caller's build has no form for something in it")
	}
	if why := s.unackable(in, r); why != "" {
		j.permanent(by("5.3", "I7"), s, why)
		return
	}
	for _, c := range s.ackChoices(j, in, r, work, queue) {
		j.allow(c.clause, j.answer.Err == nil, func() *State {
			return s.with(func(n *State) { n.commit(j, n.edit(in.id), r, c) })
		}, "success")
	}
	if j.answer.Err != nil && !j.answer.Err.Retryable {
		why := "the token is live and nothing is wrong with the ack"
		if j.failing {
			why = "a permanent error for storage that was made to fail: " + why
		}
		j.object(by("5.3", ""), "%s", why)
	}
}

// fails allows the call to fail without effect, with a retryable or a permanent error.
func (j *judge) fails(c clause, s *State, why string) {
	j.allow(c, j.answer.Err != nil, func() *State { return s }, "an error: %s", why)
}

// unackable returns the reason why an ack with a live token must fail (step 6), or "" if it may succeed.
func (s *State) unackable(in *instance, r call.AckOrchestrationItem) string {
	for i, e := range r.HistoryDelta {
		if e.EventID == 0 {
			return "an event has the id 0"
		}
		if in.taken(r.ExecutionID, e.EventID, r.HistoryDelta[:i]) {
			return "an event id is taken in that execution"
		}
	}
	return ""
}

// taken reports whether an event id is in an execution's history already, or among the events before it.
func (in *instance) taken(execution, id uint64, before []engine.Event) bool {
	return slices.ContainsFunc(in.events(execution), func(h stored) bool { return h.id == id }) ||
		slices.ContainsFunc(before, func(e engine.Event) bool { return e.EventID == id })
}

// writes reports whether the caller's build can encode everything in an ack.
func (j *judge) writes(r call.AckOrchestrationItem) bool {
	for _, item := range slices.Concat(r.WorkerItems, r.OrchestratorItems) {
		if _, err := call.ItemText(item); err != nil || !j.decodesItem(item, false) {
			return false
		}
	}
	return r.ExecutionID != 0 && !slices.ContainsFunc(r.HistoryDelta, func(e engine.Event) bool { return !j.writesEvent(e) })
}

func (j *judge) writesEvent(e engine.Event) bool {
	_, err := call.EventText(e)
	return err == nil && (j.codec == nil || j.codec.Kinds().Has(e.Kind()))
}

// ackChoice is one way to commit an ack where the contract leaves the provider a choice.
type ackChoice struct {
	clause  clause
	create  bool // create the instance's row although only one of name and version is known
	largest bool // a new row's current execution is the largest one (I9) instead of the acked one
	// mis-kinded items are stored; a provider may store them for one list and not for the other
	storeWork, storeQueue bool
}

func (s *State) ackChoices(j *judge, in *instance, r call.AckOrchestrationItem, work, queue bool) []ackChoice {
	list := []ackChoice{{clause: by("5.3", "I4 I8")}}
	vary := func(c clause, change func(*ackChoice)) {
		for _, have := range list[:len(list):len(list)] {
			have.clause = c
			change(&have)
			list = append(list, have)
		}
	}
	half := (r.Metadata.OrchestrationName == "") != (r.Metadata.OrchestrationVersion == "")
	if half && !in.row {
		vary(free(f20HalfNamed, "5.3"), func(c *ackChoice) { c.create = true })
	}
	if !in.row && r.Metadata.OrchestrationName != "" && len(in.executions) > 0 && in.latest() > r.ExecutionID {
		vary(free(xPointerOfLateRow, "5.3"), func(c *ackChoice) { c.largest = true })
	}
	if work || queue {
		if !j.grants(f17MisKinded) {
			return nil
		}
		if work {
			vary(free(f17MisKinded, "4.2"), func(c *ackChoice) { c.storeWork = true })
		}
		if queue {
			vary(free(f17MisKinded, "4.2"), func(c *ackChoice) { c.storeQueue = true })
		}
	}
	return list
}

// commit performs the steps of docs/contract/provider.md#p5.3 in order. s must be a clone, and in must belong to it.
func (s *State) commit(j *judge, in *instance, r call.AckOrchestrationItem, c ackChoice) {
	now := j.at
	s.queue = slices.DeleteFunc(s.queue, func(m message) bool { return m.instance == in.id && m.mark == r.LockToken }) // 1
	meta := r.Metadata
	both := meta.OrchestrationName != "" && meta.OrchestrationVersion != ""
	if (both || c.create) && !in.row { // 2
		in.row, in.half, in.current = true, !both, r.ExecutionID
		if c.largest {
			in.current = max(in.current, in.latest())
		}
		if meta.ParentInstanceID != "" {
			in.parent = engine.ParentLink{Instance: meta.ParentInstanceID, ExecutionID: meta.ParentExecutionID, EventID: meta.ParentEventID}
		}
		in.name, in.version = meta.OrchestrationName, meta.OrchestrationVersion
	}
	if both {
		in.name, in.version, in.half = meta.OrchestrationName, meta.OrchestrationVersion, false
	}
	e := in.addExecution(r.ExecutionID) // 3
	if meta.PinnedVersion != nil {      // 4
		pin := *meta.PinnedVersion
		e.pin = &pin
	}
	if in.row { // 5
		in.current = max(in.current, r.ExecutionID)
	}
	for _, event := range r.HistoryDelta { // 6
		in.add(r.ExecutionID, j.event(event))
	}
	if meta.Status != "" { // 7
		before := *e
		e.status, e.output, e.completed, e.stamped = meta.Status, meta.Output, now, known(true)
		if meta.Status == engine.StatusRunning && j.grants(f18RunningStamp) {
			e.stamped.must = false
			if before.stamped.may {
				e.completed = before.completed.over(now)
			}
		}
	}
	in.setCustomStatus(r.HistoryDelta) // 8
	in.setKeys(r.HistoryDelta)         // 9
	if meta.Status.Terminal() {        // still 9: merging the keys at the end of an execution (I15)
		in.store, in.delta = in.merged(), nil
	}
	for _, item := range r.WorkerItems { // 10
		if item.Kind() == engine.ItemActivityExecute || c.storeWork {
			s.enqueueWork(j.item(item), now)
		}
	}
	if len(r.CancelledActivities) > 0 { // 11
		s.work = slices.DeleteFunc(s.work, func(w row) bool { return w.cancelledBy(&r) })
	}
	for _, item := range r.OrchestratorItems { // 12
		visible := now
		if timer, ok := engine.Known(item).(engine.TimerFiredItem); ok {
			visible = At(int64(min(timer.FireAtMs, math.MaxInt64)))
		}
		if item.Kind() != engine.ItemActivityExecute || c.storeQueue {
			s.enqueue(j.item(item), visible)
		}
	}
	in.lock = nil // 13
}

func (r *row) cancelledBy(ack *call.AckOrchestrationItem) bool {
	a, ok := r.activity()
	return ok && slices.Contains(ack.CancelledActivities, engine.ScheduledActivityIdentifier{Instance: a.Instance, ExecutionID: a.ExecutionID, ActivityID: a.ID})
}

// setCustomStatus follows docs/contract/provider.md#p6.8: a delta's last status event wins, and the version goes up
// only once (I16).
func (in *instance) setCustomStatus(delta []engine.Event) {
	for i := len(delta) - 1; i >= 0 && in.row; i-- {
		if u, ok := eventdata.Known(delta[i].Data).(eventdata.CustomStatusUpdated); ok {
			in.custom = u.Status
			in.customVersion++
			return
		}
	}
}

// setKeys applies the key events of a delta, as docs/contract/provider.md#p6.9 says, without merging them yet.
func (in *instance) setKeys(delta []engine.Event) {
	for _, e := range delta {
		switch d := eventdata.Known(e.Data).(type) {
		case eventdata.KeyValueSet:
			in.delta = put(in.delta, entry{key: d.Key, value: d.Value, updatedMs: d.LastUpdatedAtMs})
		case eventdata.KeyValueCleared:
			in.delta = put(in.delta, entry{key: d.Key, tombstone: true})
		case eventdata.KeyValuesCleared:
			for i := range in.delta {
				in.delta[i] = entry{key: in.delta[i].key, tombstone: true}
			}
			for _, have := range in.store {
				in.delta = put(in.delta, entry{key: have.key, tombstone: true})
			}
		}
	}
}

// enqueueForOrchestrator judges the call against docs/contract/provider.md#p5.1.
func (s *State) enqueueForOrchestrator(j *judge, r call.EnqueueForOrchestrator) {
	_, err := call.ItemText(r.Item)
	if err == nil && r.Item.Kind() == engine.ItemActivityExecute {
		j.permanent(by("4.2", ""), s, "an activity does not belong into the orchestrator queue")
		return
	}
	if err != nil || !j.decodesItem(r.Item, false) {
		j.permanent(by("3.3", ""), s, "the caller's build has no form for the item")
	}
	if err == nil {
		j.succeeds(by("5.1", "I20"), func() *State {
			return s.with(func(n *State) { n.enqueue(j.item(r.Item), j.at.plus(r.Delay.Milliseconds())) })
		})
	}
}

// enqueueForWorker judges the call against docs/contract/provider.md#p5.7.
func (s *State) enqueueForWorker(j *judge, r call.EnqueueForWorker) {
	_, err := call.ItemText(r.Item)
	if err != nil || !j.decodesItem(r.Item, false) {
		j.permanent(by("3.3", ""), s, "the caller's build has no form for the item")
	}
	if err != nil {
		return
	}
	c := by("5.7", "I20")
	if r.Item.Kind() != engine.ItemActivityExecute {
		j.fails(by("4.2", "I8"), s, "the item is no activity")
		c = free(f17MisKinded, "4.2")
		j.allow(c, j.answer.Err == nil, func() *State { return s }, "success, without storing it")
	}
	j.succeeds(c, func() *State {
		return s.with(func(n *State) { n.enqueueWork(j.item(r.Item), j.at) })
	})
}
