package cluster

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/faultkind"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

// network carries the calls of nodes to the store and the answers back, in legs that can be late or lost, and carries out
// the calls at the store.
type network struct {
	*base
	calls       *callTable        // by the world's number - 1
	executing   int               // index of the call that was executed last
	storeCall   uint64            // the store's number of its last call
	caller      uint32            // node that makes the store's current call
	observed    uint64            // observations so far, apart from the begin and the end of calls
	ackStep     int               // the ack step to fail at, -1 for none
	downUntil   sim.Time          // the store refuses every call until then
	lastRow     observe.MessageNo // the orchestrator message inserted last, and the store's call that inserted it
	lastRowCall uint64
	lastItem    engine.WorkItem
	line        []int    // the fetches that a serial store has yet to serve, as indexes of calls
	holders     []uint32 // node that took an instance's lock last, by number of the instance
}

// callState is a provider call in progress. The world's number of a call is its index + 1.
type callState struct {
	node, inc uint32 // number and incarnation of the caller
	id        machine.CallID
	slot      machine.Slot
	request   call.Call
	provider  engine.Provider // of the incarnation that made the call
	deadline  time.Duration   // counted from sentAt
	cadence   time.Duration   // how often the node would poll, for a fetch
	once      bool            // a fetch that does not wait
	lost      bool            // the request never arrives
	key       sim.Key
	sentAt    sim.Time
	kind      observe.CallKind
	state     callPhase
	cancelled bool                 // the node cancelled the fetch
	vain      bool                 // the current try must find nothing
	stalled   bool                 // the call has waited inside the store
	arrival   *memprovider.Arrival // what it saw when it arrived, while it waits
	tries     uint32               // how often the store was asked; more than once only for a fetch that was parked
	answer    machine.Answer
	storeCall uint64 // the store's number of the last try; 0 if a fault refused it
	triedAt   sim.Time
	// For parked fetches:
	group    int           // index of the group, -1 before the first parking
	parkedAt sim.Time      // of the first parking, 0 before
	wake     kernel.Handle // the next try, while the group wakes this call
}

// callTable holds the calls of a run in blocks, so that it grows without moving them.
type callTable struct {
	blocks []*[callBlock]callState // nil when all its calls are over
	held   []int                   // the blocks beyond callBlocks that are not nil, ascending
	n      int
	gone   callState // stands for the calls of nil blocks
	keep   bool      // drop nothing
}

// callBlock is how many calls a block holds, and dropEvery the number of new blocks between two looks for what is over.
const (
	callBlock = 64
	dropEvery = 16
)

// add makes room for one more call and returns its index.
func (t *callTable) add() (int, *callState) {
	if t.n == len(t.blocks)*callBlock {
		t.drop()
		if len(t.blocks) >= callBlocks { // those before are a Memory's
			t.held = append(t.held, len(t.blocks))
		}
		t.blocks = append(t.blocks, new([callBlock]callState))
	}
	t.n++
	return t.n - 1, t.at(t.n - 1)
}

func (t *callTable) at(i int) *callState {
	if b := t.blocks[i/callBlock]; b != nil {
		return &b[i%callBlock]
	}
	t.gone = callState{node: 1, state: callDone, group: -1} // of no incarnation
	return &t.gone
}

// over reports whether nothing happens to a call any more. One that was given up may still be on its way, or wait in the store.
func (c *callState) over() bool {
	return c.state == callDone && (c.tries > 0 || c.lost) && c.arrival == nil
}

// drop lets go of the blocks whose calls are all over, so that a run holds what is under way and not all that ever was.
func (t *callTable) drop() {
	if t.keep || len(t.blocks)%dropEvery != 0 {
		return // kept where calls stand in line, and are asked for afterwards
	}
	t.held = slices.DeleteFunc(t.held, func(k int) bool {
		for i := range t.blocks[k] {
			if !t.blocks[k][i].over() {
				return false
			}
		}
		t.blocks[k] = nil
		return true
	})
}

type callPhase uint8

const (
	callSent      callPhase = iota // the request is on its way, or at the store
	callWaiting                    // it waits inside the store
	callParked                     // a fetch that waits for something to find
	callAnswering                  // the answer is on its way, or lost
	callDone                       // answered, given up, or its caller is gone
)

func (nw *network) owner(c *callState) *nodeState { return nw.fleet.list[c.node-1] }

// alive reports whether the incarnation that made a call still runs.
func (nw *network) alive(c *callState) bool {
	n := nw.owner(c)
	return n.machine != nil && n.inc == c.inc
}

func isFetch(k observe.CallKind) bool {
	return k == observe.CallFetchOrchestrationItem || k == observe.CallFetchWorkItem
}

func isRenewal(k observe.CallKind) bool {
	return k == observe.CallRenewOrchestrationItemLock || k == observe.CallRenewWorkItemLock
}

// send puts a node's call on the wire.
func (nw *network) send(n *nodeState, pc *machine.ProviderCall) {
	key := n.incKey.Num(labelCall, uint64(pc.ID))
	kind := call.Kind(pc.Request)
	if kind == observe.CallAckOrchestrationItem && nw.draws(&nw.drawn.crashBeforeAck, n.plan.Name, key) {
		nw.fleet.crashByFault(n, faultkind.CrashBeforeAck)
		return
	}
	i, c := nw.calls.add()
	*c = callState{
		node: n.number, inc: n.inc, id: pc.ID, slot: pc.Slot, request: pc.Request, provider: n.provider, kind: kind,
		deadline: pc.Deadline, cadence: pc.Cadence, once: pc.Once, key: key, sentAt: nw.kernel.Now(), group: -1,
	}
	if c.deadline == 0 {
		c.deadline = nw.callDeadline(n)
	}
	nw.recordCall(record.CallSent, i)
	leg := key.At(labelRequest)
	if nw.draws(&nw.drawn.requestLost, n.plan.Name, leg) {
		c.lost = true
		nw.lose(i, faultkind.RequestLost)
		return
	}
	if isRenewal(kind) && nw.draws(&nw.drawn.lostRenewal, n.plan.Name, leg) {
		c.lost = true
		nw.lose(i, faultkind.LostRenewal)
		return
	}
	nw.kernel.After(nw.travel(i, leg), leg, event{kind: evRequest, node: n.number, inc: n.inc, a: uint64(i)})
}

// travel draws how long a leg takes, and arms the deadline if the call will not be answered in time.
func (nw *network) travel(i int, leg sim.Key) time.Duration {
	c := nw.calls.at(i)
	d := nw.leg(leg)
	if nw.draws(&nw.drawn.callDelayed, nw.owner(c).plan.Name, leg) {
		d = nw.around(leg.Name(labelFault, "delay"), c.deadline)
		nw.record(&Record{Kind: record.Fault, Fault: faultkind.CallDelayed, Node: c.node, Incarnation: c.inc, Call: uint64(i + 1), CallKind: c.kind, For: d})
	}
	if nw.kernel.Now().Add(d) >= c.sentAt.Add(c.deadline) && !nw.waited(c) {
		nw.armDeadline(i)
	}
	return d
}

// waited reports whether the call was parked or waited inside the store: its original deadline no longer applies.
func (nw *network) waited(c *callState) bool { return c.parkedAt != 0 || c.stalled }

// lose loses a leg: the node learns of it at the deadline.
func (nw *network) lose(i int, kind faults.Kind) {
	nw.recordFault(kind, i)
	nw.armDeadline(i)
}

// armDeadline tells the node, at the deadline, that the call has failed. A fetch that was parked has waited for longer
// already: for it the deadline counts from now.
func (nw *network) armDeadline(i int) {
	c := nw.calls.at(i)
	at := c.sentAt.Add(c.deadline)
	if nw.waited(c) || at < nw.kernel.Now() {
		at = nw.kernel.Now().Add(c.deadline)
	}
	nw.kernel.At(at, c.key, event{kind: evDeadline, node: c.node, inc: c.inc, a: uint64(i)})
}

// onRequest handles the arrival of a request at the store.
func (nw *network) onRequest(i int) {
	c := nw.calls.at(i)
	if !nw.alive(c) && !sim.Chance(nw.chooser, c.key.At(labelZombie), 1, 2) {
		c.state = callDone
		return
	}
	nw.arrive(i)
}

// reply puts an answer on the wire.
func (nw *network) reply(i int) {
	c := nw.calls.at(i)
	c.state = callAnswering
	if c.kind == observe.CallAckOrchestrationItem || c.kind == observe.CallAckWorkItem {
		if d := nw.slow(i, &nw.drawn.slowAnswer); d > 0 {
			c.stalled = true
			nw.kernel.After(d, c.key.At(labelInside), event{kind: evReply, node: c.node, inc: c.inc, a: uint64(i)})
			return
		}
	}
	nw.answerLeg(i)
}

// onReply sends the answer of a call that waited inside the store after it had taken effect.
func (nw *network) onReply(i int) {
	if c := nw.calls.at(i); c.state == callAnswering && nw.alive(c) {
		nw.answerLeg(i)
	}
}

// answerLeg puts an answer on its leg.
func (nw *network) answerLeg(i int) {
	c := nw.calls.at(i)
	n := nw.owner(c)
	leg := c.key.At(labelAnswer)
	if nw.draws(&nw.drawn.answerLost, n.plan.Name, leg) {
		nw.lose(i, faultkind.AnswerLost)
		return
	}
	nw.kernel.After(nw.travel(i, leg), leg, event{kind: evAnswer, node: c.node, inc: c.inc, a: uint64(i)})
}

// onAnswer handles the arrival of an answer at its node.
func (nw *network) onAnswer(e event) {
	c := nw.calls.at(int(e.a))
	if c.state == callDone || !nw.alive(c) {
		return
	}
	n := nw.owner(c)
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	c.state = callDone
	found := c.answer.Orchestration != nil || c.answer.Work != nil
	if found && nw.draws(&nw.drawn.crashAfterFetch, n.plan.Name, c.key) {
		nw.fleet.crashByFault(n, faultkind.CrashAfterFetch)
		return
	}
	c.answer.NowMs = nw.fleet.clockMs(n)
	nw.recordAnswered(int(e.a), &c.answer, "")
	nw.fleet.step(n, &c.answer)
	c.answer, c.request = machine.Answer{}, nil // release the fetched items
}

// onDeadline tells a node that it waited in vain.
func (nw *network) onDeadline(e event) {
	c := nw.calls.at(int(e.a))
	if c.state == callDone || c.state == callParked || c.state == callWaiting || !nw.alive(c) {
		return
	}
	n := nw.owner(c)
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	c.state = callDone // its request may still be on the way
	answer := &machine.Answer{NowMs: nw.fleet.clockMs(n), Call: c.id, Err: errDeadline}
	nw.recordAnswered(int(e.a), answer, "deadline")
	nw.fleet.step(n, answer)
}

// cancelCall cancels a fetch for a draining node.
func (nw *network) cancelCall(n *nodeState, id machine.CallID) {
	for i := nw.calls.n - 1; i >= 0; i-- {
		c := nw.calls.at(i)
		if c.node != n.number || c.inc != n.inc || c.id != id {
			continue
		}
		c.cancelled = true
		if c.state == callParked || c.state == callWaiting {
			if c.state == callParked {
				nw.parking.unpark(i)
			}
			c.answer = machine.Answer{Call: c.id}
			c.state = callAnswering
			nw.kernel.After(0, c.key.At(labelAnswer), event{kind: evAnswer, node: c.node, inc: c.inc, a: uint64(i)})
		}
		return
	}
}

// outcomeOf returns the outcome of an answer.
func outcomeOf(kind observe.CallKind, a *machine.Answer) observe.Outcome {
	switch {
	case a.Err != nil && engine.IsRetryable(a.Err):
		return observe.OutcomeRetryable
	case a.Err != nil:
		return observe.OutcomePermanent
	case isFetch(kind) && a.Orchestration == nil && a.Work == nil:
		return observe.OutcomeNothing
	}
	return observe.OutcomeOK
}

// callDeadline returns how long a node waits for an answer before it treats the call as failed.
func (nw *network) callDeadline(n *nodeState) time.Duration { return n.runningOptions.CallDeadline }

// errDeadline is the error that a node gets when an answer is late or lost.
var errDeadline = engine.Retryablef("call", "no answer within the call deadline")
