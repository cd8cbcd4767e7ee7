package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
)

// callState is a provider call on its way. The world's number of a call is its index + 1.
type callState struct {
	node, inc uint32 // number and incarnation of the caller
	id        node.CallID
	slot      node.Slot
	request   call.Call
	provider  engine.Provider // of the incarnation that made the call
	deadline  time.Duration   // counted from sentAt
	cadence   time.Duration   // how often the node would poll, for a fetch
	key       sim.Key
	sentAt    sim.Time
	kind      engine.CallKind
	state     callPhase
	cancelled bool   // the node took a fetch back
	vain      bool   // the present try is one that must find nothing
	tries     uint32 // how often the store was asked; more than once only for a fetch that was parked
	answer    node.Answer
	storeCall uint64 // the store's number of the last try; 0 if a fault refused it
	triedAt   sim.Time
	// For parked fetches:
	group    int        // index of the group, -1 before the first parking
	parkedAt sim.Time   // of the first parking, 0 before
	wake     sim.Handle // the next try, while the group wakes this call
}

// callTable holds the calls of a run in blocks, so that it grows without moving them.
type callTable struct {
	blocks []*[callBlock]callState
	n      int
}

const callBlock = 64

// add makes room for one more call and returns its index.
func (t *callTable) add() (int, *callState) {
	if t.n == len(t.blocks)*callBlock {
		t.blocks = append(t.blocks, new([callBlock]callState))
	}
	t.n++
	return t.n - 1, t.at(t.n - 1)
}

func (t *callTable) at(i int) *callState { return &t.blocks[i/callBlock][i%callBlock] }

type callPhase uint8

const (
	callSent      callPhase = iota // the request is on its way, or at the store
	callParked                     // a fetch that waits for something to find
	callAnswering                  // the answer is on its way, or lost
	callDone                       // answered, given up, or nobody is left to be told
)

func (w *World) owner(c *callState) *nodeState { return w.nodes[c.node-1] }

// alive says whether the incarnation that made a call still runs.
func (w *World) alive(c *callState) bool {
	n := w.owner(c)
	return n.machine != nil && n.inc == c.inc
}

func isFetch(k engine.CallKind) bool {
	return k == engine.CallFetchOrchestrationItem || k == engine.CallFetchWorkItem
}

func isRenewal(k engine.CallKind) bool {
	return k == engine.CallRenewOrchestrationItemLock || k == engine.CallRenewWorkItemLock
}

// send puts a node's call on the wire.
func (w *World) send(n *nodeState, pc node.ProviderCall) {
	key := n.incKey.Num(labelCall, uint64(pc.ID))
	kind := call.Kind(pc.Request)
	if kind == engine.CallAckOrchestrationItem && w.draws(faults.CrashBeforeAck, n.plan.Name, key) {
		w.crashByFault(n, faults.CrashBeforeAck)
		return
	}
	i, c := w.calls.add()
	*c = callState{
		node: n.number, inc: n.inc, id: pc.ID, slot: pc.Slot, request: pc.Request, provider: n.provider, kind: kind,
		deadline: pc.Deadline, cadence: pc.Cadence, key: key, sentAt: w.kernel.Now(), group: -1,
	}
	if c.deadline == 0 {
		c.deadline = w.callDeadline(n)
	}
	w.recordCall(RecCallSent, i)
	leg := key.At(labelRequest)
	if w.draws(faults.RequestLost, n.plan.Name, leg) {
		w.lose(i, faults.RequestLost)
		return
	}
	if isRenewal(kind) && w.draws(faults.LostRenewal, n.plan.Name, leg) {
		w.lose(i, faults.LostRenewal)
		return
	}
	w.kernel.After(w.travel(i, leg), leg, event{kind: evRequest, node: n.number, inc: n.inc, a: uint64(i)})
}

// travel draws how long a leg takes, and arms the deadline if the call will not be answered in time.
func (w *World) travel(i int, leg sim.Key) time.Duration {
	c := w.calls.at(i)
	d := w.leg(leg)
	if w.draws(faults.CallDelayed, w.owner(c).plan.Name, leg) {
		d = w.around(leg.Name(labelFault, "delay"), c.deadline)
		w.record(&Record{Kind: RecFault, Fault: faults.CallDelayed, Node: c.node, Incarnation: c.inc, Call: uint64(i + 1), CallKind: c.kind, For: d})
	}
	if w.kernel.Now().Add(d) >= c.sentAt.Add(c.deadline) && !w.waited(c) {
		w.armDeadline(i)
	}
	return d
}

// waited says whether the call is a fetch that was parked: it has no deadline of its own any more.
func (w *World) waited(c *callState) bool { return c.parkedAt != 0 }

// lose loses a leg: the node learns of it at the deadline.
func (w *World) lose(i int, kind faults.Kind) {
	w.recordFault(kind, i)
	w.armDeadline(i)
}

// armDeadline tells the node, at the deadline, that the call has failed. A fetch that was parked has waited for longer
// already: for it the deadline counts from now.
func (w *World) armDeadline(i int) {
	c := w.calls.at(i)
	at := c.sentAt.Add(c.deadline)
	if w.waited(c) || at < w.kernel.Now() {
		at = w.kernel.Now().Add(c.deadline)
	}
	w.kernel.At(at, c.key, event{kind: evDeadline, node: c.node, inc: c.inc, a: uint64(i)})
}

// onRequest is the arrival of a request at the store.
func (w *World) onRequest(i int) {
	c := w.calls.at(i)
	if !w.alive(c) && !sim.Chance(w.chooser, c.key.At(labelZombie), 1, 2) {
		c.state = callDone
		return
	}
	w.execute(i)
}

// execute is the atomic instant of a call.
func (w *World) execute(i int) {
	w.changed = true
	c := w.calls.at(i)
	if !c.vain {
		c.tries++
		c.triedAt = w.kernel.Now()
	}
	w.recordCall(RecCallExecuting, i)
	before := w.observed
	w.storeCall = 0
	w.executing = i
	answer := w.perform(c)
	w.ackStep = -1
	c.storeCall = w.storeCall
	answer.Call = c.id
	if c.state != callDone {
		c.answer = answer
	}
	w.recordExecuted(i, &answer)
	if !w.alive(c) {
		c.state = callDone
		return
	}
	n := w.owner(c)
	if c.kind == engine.CallAckOrchestrationItem && answer.Err == nil && w.draws(faults.CrashAfterCommit, n.plan.Name, c.key) {
		w.crashByFault(n, faults.CrashAfterCommit)
		return
	}
	if answer.Err == nil {
		w.corrupt(i)
		w.repeatCompletion(i)
	}
	if c.state == callDone {
		return
	}
	nothing := isFetch(c.kind) && answer.Err == nil && answer.Orchestration == nil && answer.Work == nil
	if nothing && w.observed == before && !c.cancelled {
		w.park(i)
		return
	}
	w.reply(i)
}

// perform makes the call, unless a fault refuses it.
func (w *World) perform(c *callState) node.Answer {
	if isQueueCall(c.kind) {
		if err := w.refuse(c.kind); err != nil {
			return node.Answer{Err: err}
		}
	}
	a := call.Perform(w.ctx, c.provider, c.request)
	return node.Answer{Err: a.Err, Orchestration: a.Orchestration, Work: a.Work, Count: a.Count, Value: a.Value}
}

// isQueueCall says whether faults may refuse a call: those of the two queues, not reads and not the care of sessions.
func isQueueCall(k engine.CallKind) bool {
	switch k {
	case engine.CallFetchOrchestrationItem, engine.CallAckOrchestrationItem, engine.CallAbandonOrchestrationItem, engine.CallRenewOrchestrationItemLock,
		engine.CallFetchWorkItem, engine.CallAckWorkItem, engine.CallAbandonWorkItem, engine.CallRenewWorkItemLock:
		return true
	}
	return false
}

// repeatCompletion delivers what a worker has just acknowledged a second time, where a fault says so.
func (w *World) repeatCompletion(i int) {
	c := w.calls.at(i)
	r, ok := c.request.(call.AckWorkItem)
	if !ok || r.Completion == nil || !w.draws(faults.DuplicateCompletion, w.owner(c).plan.Name, c.key) {
		return
	}
	w.recordFault(faults.DuplicateCompletion, i)
	if err := w.clients.provider.EnqueueForOrchestrator(w.ctx, r.Completion, 0); err == nil {
		w.record(&Record{Kind: RecClientAccepted, Instance: r.Completion.Target(), Item: r.Completion, StoreCall: w.storeCall})
	}
}

// damaged is what a damaged event or message reads like: the beginning of one.
const damaged = `{"event_id":`

// corrupt damages what a call has just written, where a fault says so.
func (w *World) corrupt(i int) {
	c := w.calls.at(i)
	name := w.owner(c).plan.Name
	if r, ok := c.request.(call.AckOrchestrationItem); ok && len(r.HistoryDelta) > 0 && w.draws(faults.CorruptEvent, name, c.key) {
		e := r.HistoryDelta[len(r.HistoryDelta)-1]
		if w.store.Damage(e.InstanceID, r.ExecutionID, e.EventID, []byte(damaged)) == nil {
			w.recordFault(faults.CorruptEvent, i)
		}
	}
	if w.lastRowCall == w.storeCall && w.lastRow != 0 && w.draws(faults.CorruptMessage, name, c.key) {
		if w.store.DamageMessage(w.lastRow, []byte(damaged)) == nil {
			w.recordFault(faults.CorruptMessage, i)
		}
	}
}

// unavailableMax bounds a window in which the store refuses every call.
const unavailableMax = 3 * time.Second

// refuse decides whether the store refuses the call that is being executed, and arms an error inside an ack.
func (w *World) refuse(kind engine.CallKind) error {
	i := w.executing
	c := w.calls.at(i)
	if c.vain {
		return nil
	}
	key, name := tryKey(c.key, c.tries), w.owner(c).plan.Name
	if w.kernel.Now() < w.downUntil {
		return engine.Retryablef(kind.String(), "storage is unavailable")
	}
	switch {
	case w.draws(faults.Unavailable, name, key):
		w.downUntil = w.kernel.Now().Add(sim.Between(w.chooser, key.Name(labelFault, "window"), 100*time.Millisecond, unavailableMax))
		w.recordFault(faults.Unavailable, i)
		return engine.Retryablef(kind.String(), "storage is unavailable")
	case w.draws(faults.RetryableError, name, key):
		w.recordFault(faults.RetryableError, i)
		return engine.Retryablef(kind.String(), "storage is busy")
	case w.draws(faults.PermanentError, name, key):
		w.recordFault(faults.PermanentError, i)
		return engine.Permanentf(kind.String(), "storage refuses the call")
	case kind == engine.CallAckOrchestrationItem && w.draws(faults.AckStepError, name, key):
		w.ackStep = int(w.chooser.Choose(key.Name(labelFault, "step"), memprovider.AckSteps))
		w.recordFault(faults.AckStepError, i)
	}
	return nil
}

// beforeAckStep is the store's hook: it fails an ack before the step that a fault has named.
func (w *World) beforeAckStep(_ uint64, step memprovider.AckStep) error {
	if w.ackStep == int(step) {
		return engine.Retryablef("ack_orchestration_item", "storage failed before step %d of the ack", w.ackStep)
	}
	return nil
}

// reply puts an answer on the wire.
func (w *World) reply(i int) {
	c := w.calls.at(i)
	c.state = callAnswering
	n := w.owner(c)
	leg := c.key.At(labelAnswer)
	if w.draws(faults.AnswerLost, n.plan.Name, leg) {
		w.lose(i, faults.AnswerLost)
		return
	}
	w.kernel.After(w.travel(i, leg), leg, event{kind: evAnswer, node: c.node, inc: c.inc, a: uint64(i)})
}

// onAnswer is the arrival of an answer at its node.
func (w *World) onAnswer(e event) {
	c := w.calls.at(int(e.a))
	if c.state == callDone || !w.alive(c) {
		return
	}
	n := w.owner(c)
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	c.state = callDone
	found := c.answer.Orchestration != nil || c.answer.Work != nil
	if found && w.draws(faults.CrashAfterFetch, n.plan.Name, c.key) {
		w.crashByFault(n, faults.CrashAfterFetch)
		return
	}
	answer := c.answer
	answer.NowMs = w.NowMs()
	w.recordAnswered(int(e.a), &answer, "")
	c.answer, c.request = node.Answer{}, nil // let go of what was fetched
	w.step(n, answer)
}

// onDeadline tells a node that it waited in vain.
func (w *World) onDeadline(e event) {
	c := w.calls.at(int(e.a))
	if c.state == callDone || c.state == callParked || !w.alive(c) {
		return
	}
	n := w.owner(c)
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	c.state = callDone // its request may still be on the way
	answer := node.Answer{NowMs: w.NowMs(), Call: c.id, Err: errDeadline}
	w.recordAnswered(int(e.a), &answer, "deadline")
	w.step(n, answer)
}

// cancelCall takes a fetch back for a draining node.
func (w *World) cancelCall(n *nodeState, id node.CallID) {
	for i := w.calls.n - 1; i >= 0; i-- {
		c := w.calls.at(i)
		if c.node != n.number || c.inc != n.inc || c.id != id {
			continue
		}
		c.cancelled = true
		if c.state == callParked {
			w.unpark(i)
			c.answer = node.Answer{Call: c.id}
			c.state = callAnswering
			w.kernel.After(0, c.key.At(labelAnswer), event{kind: evAnswer, node: c.node, inc: c.inc, a: uint64(i)})
		}
		return
	}
}

// outcomeOf is an answer in one word.
func outcomeOf(kind engine.CallKind, a *node.Answer) engine.Outcome {
	switch {
	case a.Err != nil && engine.IsRetryable(a.Err):
		return engine.OutcomeRetryable
	case a.Err != nil:
		return engine.OutcomePermanent
	case isFetch(kind) && a.Orchestration == nil && a.Work == nil:
		return engine.OutcomeNothing
	}
	return engine.OutcomeOK
}
