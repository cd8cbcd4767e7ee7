package selfcheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// nodes judges each node against S28.
type nodes struct {
	run          *run
	bounces      bool
	stalls       bool
	sweeps       bool
	callersClock bool                // the store uses its callers' clocks, not those of the judged nodes
	guids        map[string]activity // which activity got each GUID; never iterated over, so map order does not matter
	patience     plan.Patience
	all          []nodeState            // indexed by node number - 1
	owners       map[string]incarnation // the incarnation that claims sessions under each name; never iterated over, so map order does not matter
	step         uint64                 // the run's current step
	dirty        []uint32               // nodes whose log lines and notes from this step have not been compared yet
}

// nodeState is the state of a node's current incarnation.
type nodeState struct {
	number, incarnation uint32
	judged              bool // whether the node is up and runs a build that durosim models
	gone                bool // whether it was judged, and has stopped or crashed
	draining            bool
	drainedAt           sim.Time // when the node was asked to stop
	drainedMs           int64    // the same, in store time
	lingers             bool     // it has been reported for not stopping when it had nothing left
	wrongClock          bool
	admits              *engine.CapabilityFilter // which pins it replays
	frozen              bool
	disturbed           sim.Time         // when the node was last paused or resumed
	tally               machine.Counters // the values that its counters must have
	slots               []slot
	sessions            sessionCalls
	sweeping            sweeping
	lines               lines
	turned              machine.Slot // the slot that ran the most recent turn
	kept                []keptTurn   // those whose last turn is longest ago first
}

// keptTurn is what a node keeps of an execution. So many turns in a row have gone on from it; the last one added delta at from.
type keptTurn struct {
	instance    string
	execution   uint64
	turns, from int
	delta       []engine.Event
}

// slot is one of a node's loops.
type slot struct {
	id     machine.Slot
	sweeps bool
	call   uint64 // the call that the slot is waiting for, or 0
	kind   observe.CallKind
	sent   sim.Time // when it sent that call
	parked bool     // that call is a fetch that found nothing and waits for work
	idle   bool     // the slot has no work and fetches next
	errors int      // consecutive fetches that failed with a retryable error
	// next is the call that the slot must make next, if there is only one possibility.
	next next
	// owner is the name under which the slot claims sessions, or empty if it has not claimed any.
	owner string
	// held is the work that the slot holds. If it has no token, the slot holds nothing.
	held held
}

// next describes a slot's next call.
type next struct {
	kind  observe.CallKind // CallNone stands for any call
	since sim.Time         // when the slot began waiting to make the call
	step  uint64           // the same, as a step of the run
	after time.Duration
	by    behind // the option that sets that duration
	known bool
}

func newNodes(r *run) *nodes {
	p := r.world.Plan()
	return &nodes{
		run: r, callersClock: p.Store.CallersClock, patience: p.Patience.Or(),
		bounces: p.Strategy == plan.StrategyBounce, stalls: p.Strategy == plan.StrategyStall, sweeps: p.Strategy == plan.StrategySweeper,
	}
}

// Record updates a node's state and judges the node.
func (k *nodes) Record(r *cluster.Record) {
	if r.Node == 0 {
		return
	}
	k.step = r.Step
	for len(k.all) < int(r.Node) {
		k.all = append(k.all, nodeState{number: uint32(len(k.all) + 1)})
	}
	n := &k.all[r.Node-1]
	if r.Kind == record.NodeStarted {
		k.started(n, r)
		return
	}
	if !n.judged || r.Incarnation != n.incarnation {
		k.mayRemain(n, r)
		return
	}
	switch r.Kind {
	case record.NodeStopped, record.NodeCrashed:
		if r.Kind == record.NodeStopped {
			k.mayStop(n)
		}
		k.mayParkAny(n, r.At)
		k.compareLines(n)
		k.counted(n)
		k.overdue(n, r.At)
		n.judged, n.gone = false, true
	case record.NodePaused, record.NodeResumed:
		k.overdue(n, r.At)
		n.frozen, n.disturbed = r.Kind == record.NodePaused, r.At
	case record.NodeDraining:
		k.overdue(n, r.At)
		k.drains(n, r)
	case record.HandlersChanged:
		code, how, _ := strings.Cut(r.Text, " is ")
		registry := k.options(n).Registry
		is := func(have string) bool { return have == code || strings.HasPrefix(have, code+"@") }
		if has := slices.ContainsFunc(registry.Orchestrations(), is) || slices.ContainsFunc(registry.Activities(), is); has != (how == "registered") {
			k.wrong(n, "", "has %s: %t, although it is %s", code, has, how)
		}
	case record.CallSent:
		k.asked(n, r)
	case record.Parked, record.Woken:
		if s := n.slot(r.Slot); s.call == r.Call {
			k.mayPark(n, s, r.At)
			s.parked = r.Kind == record.Parked
		}
	case record.Answered:
		k.answered(n, r)
	case record.Note:
		k.noted(n, r)
	case record.Log:
		if notCarriedText.MatchString(r.Log.Text) {
			k.leftBehind(n, r.Log)
		}
		n.lines.logged = append(n.lines.logged, *r.Log)
		k.touch(n)
	case record.Fault:
		if r.Fault == faults.ExecutionForgotten {
			n.takeKept(r.Instance)
		}
		k.holds(n, r)
	case record.ActivityStarted:
		n.tally.Activities++
		s := n.slot(r.Activity.Slot)
		s.held.running = true
		if s.held.session != "" {
			k.keepsSessions(n, r.At)
		}
	case record.ActivityFinished:
		s := n.slot(r.Activity.Slot)
		k.keepsLock(n, s, r.At)
		k.keepsGrace(n, s, r.At)
		k.endsOwn(n, s, r)
		s.held.running = false
		k.due(s, observe.CallNone, r.At, 0)
	}
}

func (k *nodes) started(n *nodeState, r *cluster.Record) {
	info := k.run.world.Node(r.Node)
	slots := n.slots[:0]
	for i := range info.Options.OrchestrationConcurrency {
		slots = append(slots, slot{id: machine.Slot{Kind: machine.SlotOrchestration, Index: i}})
	}
	for i := range info.Options.WorkerConcurrency {
		slots = append(slots, slot{id: machine.Slot{Kind: machine.SlotWorker, Index: i}})
	}
	_, counts := k.run.world.Counters(r.Node) // in test stories, nodes do only what the story says and keep no counters
	// Released nodes are not judged: they show their decisions only in their calls, and S28 judges a decision together
	// with its note, its lines and its counters.
	modelled := info.Build.Release == ""
	*n = nodeState{
		number: n.number, incarnation: r.Incarnation, judged: counts && modelled,
		wrongClock: info.Clock != (plan.Clock{}), slots: slots, lines: n.lines,
	}
	if n.wrongClock && k.sweeps {
		n.judged = false // it is unknown for how long the sweeper has been seeing each piece of work
	}
	if n.judged {
		n.admits = &engine.CapabilityFilter{SupportedVersions: []engine.VersionRange{rangeOf(&info.Options, info.Build)}}
		if info.Filter != nil && info.Filter.String() != n.admits.String() { // its fetches are compared with what it declares
			k.wrong(n, "", "declares that it replays %s: expected %s", info.Filter, n.admits)
		}
		n.expect(machine.Log{Level: machine.LevelInfo, Text: "Orchestration dispatcher capability filter configured", Fields: []machine.Field{{Name: "supported_range", Value: info.Filter.String()}}})
		k.touch(n)
		if info.Options.WorkerNodeID != "" && info.Options.WorkerConcurrency > 0 {
			k.keepsSessions(n, r.At)
		}
	}
}

// slot returns one of a node's loops. Since the options do not show whether a node has a sweeper, slot adds the
// sweeper's slot when it first appears.
func (n *nodeState) slot(at machine.Slot) *slot {
	for i := range n.slots {
		if n.slots[i].id == at {
			return &n.slots[i]
		}
	}
	n.slots = append(n.slots, slot{id: at, sweeps: true})
	return &n.slots[len(n.slots)-1]
}

// Finish judges the counters of the nodes that are still up.
func (k *nodes) Finish() {
	for i := range k.all {
		if n := &k.all[i]; n.judged {
			now := sim.Time(k.run.world.NowMs()-k.run.world.StartMs()) * sim.Time(time.Millisecond/time.Microsecond)
			k.mayParkAny(n, now)
			k.compareLines(n)
			k.counted(n)
			k.overdue(n, now)
		}
	}
}

func (k *nodes) options(n *nodeState) *cluster.NodeInfo { return k.run.world.Node(n.number) }

// wrong reports a violation committed by a node.
func (k *nodes) wrong(n *nodeState, instance string, format string, args ...any) {
	k.run.violate(NodeByItsRules, cluster.ClassSafety, n.number, instance, k.run.who(n.number, n.incarnation)+" "+fmt.Sprintf(format, args...))
}

// asked judges a node's call: whether this call is due, and whether its arguments are right.
func (k *nodes) asked(n *nodeState, r *cluster.Record) {
	if want := k.options(n).Options.CallDeadline; r.Deadline != want {
		k.wrong(n, "", "waits for %s for at most %v: expected %v (call_deadline)", r.CallKind, r.Deadline, want)
	}
	if r.Slot.Kind == machine.SlotSessions {
		k.askedOfSessions(n, r)
		return
	}
	s := n.slot(r.Slot)
	switch r.CallKind {
	case observe.CallRenewOrchestrationItemLock, observe.CallRenewWorkItemLock:
		k.renews(n, s, r)
		return
	case observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem:
		n.tally.Fetches++
		if n.draining {
			k.wrong(n, "", "calls %s, although it was asked to stop at %s: expected no fetch", r.CallKind, k.run.at(n.drainedMs))
		}
	}
	k.pays(n, s)
	if x := s.next; x.known {
		switch {
		case x.kind != r.CallKind && x.kind != observe.CallNone:
			why := ""
			if s.held.failures > 0 && (x.kind == observe.CallAckOrchestrationItem || x.kind == observe.CallAckWorkItem) {
				why = fmt.Sprintf(", since after %d failures its ack may be tried again", s.held.failures)
			}
			k.wrong(n, s.held.instance, "calls %s: expected %s next%s", r.CallKind, x.kind, why)
		case n.quiet(x.since) && !n.draining && off(r.At.Sub(x.since), x.after):
			k.wrong(n, s.held.instance, "calls %s after %v: expected a pause of %v%s", r.CallKind, r.At.Sub(x.since), x.after, k.optionBehind(n, x.by))
		case n.quiet(x.since) && !n.draining && x.after <= 0 && r.Step != x.step:
			k.wrong(n, s.held.instance, "calls %s in step %d: expected the call in step %d, without a pause", r.CallKind, r.Step, x.step)
		}
	}
	s.call, s.kind, s.sent, s.next, s.parked, s.idle = r.Call, r.CallKind, r.At, next{}, false, false
	switch q := r.Request.(type) {
	case call.FetchOrchestrationItem:
		k.polls(n, s, r, s.sweeps && len(n.sweeping.met) > 0)
		k.fetchesTurns(n, s, &q)
	case call.FetchWorkItem:
		k.polls(n, s, r, n.sessionsHeld() >= k.options(n).Options.MaxSessionsPerRuntime)
		k.fetchesWork(n, s, &q)
	case call.AckOrchestrationItem:
		k.keepsLock(n, s, r.At)
		k.acksTurn(n, s, r.Request, &q)
	case call.AckWorkItem:
		k.keepsLock(n, s, r.At)
		k.acksWork(n, s, r, &q)
	case call.GetKVValue:
		k.readsKey(n, s, &q)
	case call.AbandonOrchestrationItem:
		k.givesBack(n, s, q.LockToken, q.Delay, q.IgnoreAttempt)
	case call.AbandonWorkItem:
		k.keepsLock(n, s, r.At)
		k.givesBack(n, s, q.LockToken, q.Delay, q.IgnoreAttempt)
	}
}

// quiet reports whether the node's pauses since the given time can be measured. They can if its clock is right and it
// has not been paused in the meantime.
func (n *nodeState) quiet(since sim.Time) bool {
	return !n.wrongClock && (n.disturbed == 0 || n.disturbed < since)
}

// off reports whether a pause differs from the required one by more than the effect of rounding to milliseconds.
func off(got, want time.Duration) bool {
	d := got - max(want, 0)
	return d < -2*time.Millisecond || d > 2*time.Millisecond
}

// answered processes the answer to a call, which may be an error.
func (k *nodes) answered(n *nodeState, r *cluster.Record) {
	if r.Slot.Kind == machine.SlotSessions {
		k.answeredSessions(n, r)
		return
	}
	s := n.slot(r.Slot)
	switch {
	case s.held.renewal == r.Call && r.Call != 0:
		k.patient(n, r, s.held.renewalSent)
		k.renewed(n, s, r)
	case s.call != r.Call:
	default:
		k.mayPark(n, s, r.At)
		s.call, s.parked = 0, false
		k.patient(n, r, s.sent)
		switch s.kind {
		case observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem:
			k.fetched(n, s, r)
		case observe.CallAckOrchestrationItem, observe.CallAckWorkItem:
			k.acked(n, s, r)
		case observe.CallAbandonOrchestrationItem, observe.CallAbandonWorkItem:
			k.fetchesNext(n, s, r.At)
		case observe.CallGetKVValue:
			s.held.value = r.Value
			if r.Outcome == observe.OutcomeRetryable {
				k.owes(n, &s.held, machine.DecideReadFailed, r.Err.Error())
			}
		}
	}
}

// fetchesNext requires a slot that has given back or committed its work to fetch again at once. A sweeper may pause
// first.
func (k *nodes) fetchesNext(n *nodeState, s *slot, at sim.Time) {
	k.rests(n, s)
	if s.sweeps {
		k.nextLook(n, s, at)
		return
	}
	k.due(s, fetchOf(s), at, 0)
}

func (k *nodes) due(s *slot, kind observe.CallKind, since sim.Time, after time.Duration) {
	s.next = next{kind: kind, since: since, step: k.step, after: after, known: true}
}

func fetchOf(s *slot) observe.CallKind {
	if s.id.Kind == machine.SlotWorker {
		return observe.CallFetchWorkItem
	}
	return observe.CallFetchOrchestrationItem
}

// fetched processes the answer to a fetch. What follows is a pause or a delivery.
func (k *nodes) fetched(n *nodeState, s *slot, r *cluster.Record) {
	interval := k.options(n).Options.DispatcherMinPollInterval
	if r.Fetched == nil && r.Work == nil {
		k.rests(n, s)
	}
	switch {
	case r.Err != nil && r.Outcome == observe.OutcomeRetryable:
		n.tally.FetchErrors++
		s.errors++
		k.due(s, fetchOf(s), r.At, min(100*time.Millisecond<<min(s.errors, 5), 3*time.Second))
	case r.Err != nil:
		n.tally.FetchErrors++
		s.errors = 0
		k.due(s, fetchOf(s), r.At, 100*time.Millisecond)
	case r.Fetched == nil && r.Work == nil:
		n.tally.FetchedNothing++
		s.errors = 0
		if s.sweeps {
			k.endPass(n, r.AtMs)
			k.nextLook(n, s, r.At)
			return
		}
		k.due(s, fetchOf(s), r.At, interval-r.At.Sub(s.sent))
		s.next.by = byPolling
	case r.Fetched != nil:
		n.tally.FetchedOrchestrations++
		s.errors = 0
		k.deliveredTurn(n, s, r, r.Fetched)
	default:
		n.tally.FetchedWork++
		s.errors = 0
		k.deliveredWork(n, s, r, r.Work)
	}
}
