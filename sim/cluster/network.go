package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/record"
)

var (
	drawsRequestLost     = drawnKindOf(faults.RequestLost)
	drawsAnswerLost      = drawnKindOf(faults.AnswerLost)
	drawsCrashBeforeAck  = drawnKindOf(faults.CrashBeforeAck)
	drawsActivityRepeats = drawnKindOf(faults.ActivityRepeats)
	drawsLostRenewal     = drawnKindOf(faults.LostRenewal)
	drawsCallDelayed     = drawnKindOf(faults.CallDelayed)
	drawsCrashAfterFetch = drawnKindOf(faults.CrashAfterFetch)
)

// network carries the nodes' calls to the store and the answers back, over legs that can be late or lost. It also
// executes the calls at the store.
type network struct {
	*base
	fleet       *fleet
	parking     *parking
	clients     *clients
	calls       *callTable        // indexed by the world's number for the call, minus 1
	executing   *callState        // the call executed last
	answer      machine.Answer    // its answer
	caller      observe.Caller    // who makes the store's current call
	observed    uint64            // observations so far, except those of calls beginning and ending
	lastRow     observe.MessageNo // the orchestrator message inserted last, and the store's call that inserted it
	lastRowCall uint64
	lastItem    engine.WorkItem
	line        []*callState // the fetches that a serial store has not served yet
	holders     []holding    // who took each instance's lock last, by instance number
	workers     []held       // who took each queued activity last, if anybody did, in no order
}

// holding says who took work last, and when and why it gave it back, if it did.
type holding struct {
	by   observe.Caller
	back *givenBack
	// wrote is the build that wrote an instance's last events, or nil if no node did.
	wrote *engine.Build
	// deleted is set if the instance, or what was queued for it, has been deleted since then.
	deleted bool
}

type givenBack struct {
	atMs  int64
	cause string
}

type held struct {
	message observe.MessageNo
	holding
}

func isFetch(k observe.CallKind) bool {
	return k == observe.CallFetchOrchestrationItem || k == observe.CallFetchWorkItem
}

func (nw *network) send(n *nodeState, pc *machine.ProviderCall) {
	key := n.incKey.Num(labelCall, uint64(pc.ID))
	kind := call.Kind(pc.Request)
	if kind == observe.CallAckOrchestrationItem && nw.draws(drawsCrashBeforeAck, n.plan.Name, key) {
		nw.fleet.crashByFault(n, faults.CrashBeforeAck)
		return
	}
	no, c := nw.calls.add()
	*c = callState{} // in place, since it is large
	c.no, c.owner, c.node, c.inc, c.provider = no, n, n.number, n.inc, n.provider
	c.id, c.slot, c.request, c.kind, c.cause = pc.ID, pc.Slot, pc.Request, kind, n.cause
	c.deadline, c.cadence, c.once = pc.Deadline, pc.Cadence, pc.Once
	c.key, c.sentAt, c.group = key, nw.kernel.Now(), -1
	if c.deadline == 0 {
		c.deadline = n.runningOptions.CallDeadline
	}
	nw.recordCall(record.CallSent, c)
	if r, ok := pc.Request.(call.AckWorkItem); ok && r.Completion != nil && nw.draws(drawsActivityRepeats, n.plan.Name, key) {
		if sim.Chance(nw.chooser, key.Name(labelFault, "crash"), 1, 8) {
			c.state, c.lost = callDone, true
			nw.fleet.crashByFault(n, faults.ActivityRepeats)
			return
		}
		c.refused = true
		nw.recordFault(faults.ActivityRepeats, c)
	}
	leg := key.At(labelRequest)
	if nw.draws(drawsRequestLost, n.plan.Name, leg) {
		c.lost = true
		nw.lose(c, faults.RequestLost)
		return
	}
	if (kind == observe.CallRenewOrchestrationItemLock || kind == observe.CallRenewWorkItemLock) && nw.draws(drawsLostRenewal, n.plan.Name, leg) {
		c.lost = true
		nw.lose(c, faults.LostRenewal)
		return
	}
	nw.kernel.After(nw.travel(c, leg), leg, event{kind: evRequest, node: n.number, inc: n.inc, a: c.no})
}

// travel draws how long a leg takes. If the call will not be answered in time, it also arms the deadline.
func (nw *network) travel(c *callState, leg sim.Key) time.Duration {
	d := nw.leg(leg)
	if nw.draws(drawsCallDelayed, c.owner.plan.Name, leg) {
		d = nw.around(leg.Name(labelFault, "delay"), c.deadline)
		nw.record(&Record{Kind: record.Fault, Fault: faults.CallDelayed, Node: c.node, Incarnation: c.inc, Call: c.no, CallKind: c.kind, For: d})
	}
	if nw.kernel.Now().Add(d) >= c.sentAt.Add(c.deadline) && !nw.waited(c) {
		nw.armDeadline(c)
	}
	return d
}

// waited reports whether the call was parked or has waited inside the store. In that case its original deadline no
// longer applies.
func (nw *network) waited(c *callState) bool { return c.parkedAt != 0 || c.stalled }

// lose loses a leg; the node gets an error at the deadline.
func (nw *network) lose(c *callState, kind faults.Kind) {
	nw.recordFault(kind, c)
	nw.armDeadline(c)
}

// armDeadline schedules the deadline at which the node learns that the call has failed. A parked fetch has already
// waited longer, so its deadline counts from now.
func (nw *network) armDeadline(c *callState) {
	at := c.sentAt.Add(c.deadline)
	if nw.waited(c) || at < nw.kernel.Now() {
		at = nw.kernel.Now().Add(c.deadline)
	}
	nw.kernel.At(at, c.key, event{kind: evDeadline, node: c.node, inc: c.inc, a: c.no})
}

// onRequest handles the arrival of a request at the store.
func (nw *network) onRequest(c *callState) {
	if !c.alive() && !sim.Chance(nw.chooser, c.key.At(labelZombie), 1, 2) {
		c.state = callDone
		return
	}
	nw.arrive(c)
}

func (nw *network) reply(c *callState) {
	c.state = callAnswering
	if c.kind == observe.CallAckOrchestrationItem || c.kind == observe.CallAckWorkItem {
		if d := nw.slow(c, drawsSlowAnswer); d > 0 {
			c.stalled = true
			nw.kernel.After(d, c.key.At(labelInside), event{kind: evReply, node: c.node, inc: c.inc, a: c.no})
			return
		}
	}
	nw.answerLeg(c)
}

// onReply sends the answer of a call that waited inside the store after taking effect.
func (nw *network) onReply(c *callState) {
	if c.state == callAnswering && c.alive() {
		nw.answerLeg(c)
	}
}

func (nw *network) answerLeg(c *callState) {
	n := c.owner
	leg := c.key.At(labelAnswer)
	if nw.draws(drawsAnswerLost, n.plan.Name, leg) {
		nw.lose(c, faults.AnswerLost)
		return
	}
	nw.kernel.After(nw.travel(c, leg), leg, event{kind: evAnswer, node: c.node, inc: c.inc, a: c.no})
}

// onAnswer handles the arrival of an answer at its node.
func (nw *network) onAnswer(e event) {
	c := nw.calls.at(e.a)
	if c.state == callDone || !c.alive() {
		return
	}
	n := c.owner
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	c.state = callDone
	found := c.answer.Orchestration != nil || c.answer.Work != nil
	if found && nw.draws(drawsCrashAfterFetch, n.plan.Name, c.key) {
		nw.fleet.crashByFault(n, faults.CrashAfterFetch)
		return
	}
	c.answer.NowMs = nw.fleet.clockMs(n)
	nw.recordAnswered(c, &c.answer, "")
	nw.fleet.step(n, &c.answer)
	c.answer, c.request = machine.Answer{}, nil // release the fetched items
}

// onDeadline tells a node that its call was not answered in time.
func (nw *network) onDeadline(e event) {
	c := nw.calls.at(e.a)
	if c.state == callDone || c.state == callParked || c.state == callWaiting || !c.alive() {
		return
	}
	n := c.owner
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	c.state = callDone // the request may still be in transit
	answer := &machine.Answer{NowMs: nw.fleet.clockMs(n), Call: c.id, Err: errDeadline}
	nw.recordAnswered(c, answer, "deadline")
	nw.fleet.step(n, answer)
}

func (nw *network) cancelCall(n *nodeState, id machine.CallID) {
	for no := uint64(nw.calls.n); no > 0; no-- {
		c := nw.calls.at(no)
		if c.node != n.number || c.inc != n.inc || c.id != id {
			continue
		}
		c.cancelled = true
		if c.state == callParked || c.state == callWaiting {
			if c.state == callParked {
				nw.parking.unpark(c)
			}
			c.answer = machine.Answer{Call: c.id}
			c.state = callAnswering
			nw.kernel.After(0, c.key.At(labelAnswer), event{kind: evAnswer, node: c.node, inc: c.inc, a: c.no})
		}
		return
	}
}

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

// errDeadline is the error a node gets if an answer is late or lost.
var errDeadline = engine.Retryablef("call", "no answer within the call deadline")
