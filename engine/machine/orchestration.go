package machine

import (
	"cmp"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
)

// The rules by which the node itself drops messages. Package replay has the rules that apply within turns.
const (
	dropTerminal  = replay.DropTerminal // the current execution has ended
	dropUnstarted = "unstarted"         // the instance has no history, and nothing in the batch starts it
	dropPoison    = "poison"            // the batch exceeded the maximum number of delivery attempts
	dropSwept     = "swept"             // the sweeper's node could not run the batch for SweepAfter or longer
)

// onOrchestration decides what to do with fetched batch f.
func (n *Node) onOrchestration(s *slot, f *engine.FetchedOrchestration) {
	n.current.read(f, n.rules)
	n.decide(s, &n.current)
	n.current = delivery{}
}

// decide takes the action of the first test in Rules.Order that applies. If no test applies, it runs a turn.
func (n *Node) decide(s *slot, d *delivery) {
	f := d.FetchedOrchestration
	h := n.take(s, f.LockToken, f.Item.Instance, f.AttemptCount, n.options.OrchestratorLockTimeout)
	h.execution, h.batch = d.execution(), f
	if n.draining {
		n.abandon(s, Note{Decision: DecideDrained, Cause: "the node drains"})
		return
	}
	if s.sweeps {
		n.look(s, d)
		return
	}
	for _, t := range n.rules.Order {
		if n.decides(t, s, d) {
			return
		}
	}
	n.runTurn(s, d)
}

// decides applies test t. If the test holds, decides takes its action and returns true.
func (n *Node) decides(t Test, s *slot, d *delivery) bool {
	switch t {
	case TestTerminal:
		return n.dropsEnded(s, d)
	case TestPoison:
		return n.poisons(s, d)
	case TestHistoryError:
		return n.bouncesUndecodable(s, d)
	case TestIncompatible:
		return n.bouncesIncompatible(s, d)
	case TestWaitForStart:
		return n.waitsForStart(s, d)
	case TestHandler:
		return n.bouncesUnregistered(s, d)
	}
	panic(fmt.Sprintf("node %s: unknown test %d", n.name, t))
}

// dropsEnded acknowledges messages that have no effect because their execution has ended or does not exist.
func (n *Node) dropsEnded(s *slot, d *delivery) bool {
	var note Note
	switch {
	case n.rules.Ended(d.status, d.begin != nil) || d.duplicate == DuplicateWins && d.duplicateStart != nil:
		note = Note{Decision: DecideDropTerminal, Cause: "execution is " + string(d.status), Dropped: d.dropAll(dropTerminal)}
		n.logTerminal(d)
	case d.unstarted():
		note = Note{Decision: DecideDropUnstarted, Cause: "no history and no start", Dropped: d.dropAll(dropUnstarted)}
		n.logUnstarted(d)
	default:
		return false
	}
	n.note(s, note)
	n.counters.countDrops(note.Dropped)
	n.startRenewing(s)
	n.commit(s, note.Decision, call.AckOrchestrationItem{
		LockToken: d.LockToken, ExecutionID: d.Item.ExecutionID, OrchestratorItems: n.refusals(d),
	})
	return true
}

// bouncesUndecodable abandons a batch that cannot be decoded. It leaves a batch outside the range of a node that fetches all
// to the pin test: without a filter, that node fetches histories that it cannot read only because another build wrote them.
func (n *Node) bouncesUndecodable(s *slot, d *delivery) bool {
	if !d.undecodable() || n.fetchesAll() && !n.admits(d) {
		return false
	}
	n.logHistoryError(d)
	n.abandon(s, Note{Decision: DecideHistoryError, Delay: HistoryErrorDelay, Cause: d.Item.HistoryError})
	return true
}

func (n *Node) admits(d *delivery) bool {
	return n.rules.Admits(n.admitted, d.pin, d.stamp, n.build.Version)
}

func (n *Node) bouncesIncompatible(s *slot, d *delivery) bool {
	if n.admits(d) {
		return false
	}
	n.logIncompatible(d)
	n.abandon(s, Note{Decision: DecideIncompatible, Delay: n.bounceDelay(d.AttemptCount), Cause: n.incompatible(d)})
	return true
}

// incompatible describes the mismatch between a pin and the supported range.
func (n *Node) incompatible(d *delivery) string {
	return fmt.Sprintf("incompatible pin %s, supported %s", d.pin, n.supported)
}

// waitsForStart abandons input that arrived before its execution's start.
func (n *Node) waitsForStart(s *slot, d *delivery) bool {
	if !d.waitsForStart() {
		return false
	}
	n.logWaitForStart(d)
	delay := WaitForStartDelay
	if o := &n.options; n.rules.CountsWaiting(n.build) {
		delay = n.rules.UnregisteredBackoff(d.AttemptCount, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
	}
	n.abandon(s, Note{Decision: DecideWaitForStart, Delay: delay, Cause: "the continue-as-new start is still to come"})
	return true
}

func (n *Node) bouncesUnregistered(s *slot, d *delivery) bool {
	if _, found := d.resolve(n.registry, n.rules); found {
		return false
	}
	if !n.rules.MissingHandlerWaits {
		n.endAsPoison(s, d, DecidePoison, missingHandler(d), dropPoison)
		return true
	}
	o := &n.options
	delay := n.rules.UnregisteredBackoff(d.AttemptCount, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
	n.logUnregistered(d, delay)
	n.abandon(s, Note{Decision: DecideNoHandler, Delay: delay, Cause: missingHandler(d)})
	return true
}

func missingHandler(d *delivery) string {
	name, version := d.handlerName()
	return "handler missing: " + name + "@" + cmp.Or(version, latest)
}

// latest stands for the version where none is named.
const latest = "latest"

// turnInput builds the input for a batch's turn.
func (n *Node) turnInput(d *delivery, handler node.Resolved) replay.Input {
	in := replay.Input{
		Build: n.build, Instance: d.Item.Instance, ExecutionID: d.execution(), Messages: d.Item.Messages,
		KVSnapshot: d.Item.KVSnapshot, Handler: handler.Handler, NowMs: uint64(n.nowMs), Parent: d.Item.Parent,
		Rules: n.replay, DoubleCheck: n.doubleCheck,
		Arena: n.arena.replay,
	}
	if d.begin != nil {
		in.Start = n.arena.starts.New()
		*in.Start = d.begin.Start
		in.Start.Version = handler.String()[len(handler.Name)+1:]
	} else {
		in.History = d.Item.History
	}
	return in
}

// runTurn computes the turn and starts a job for its duration. onFinished then commits the turn.
func (n *Node) runTurn(s *slot, d *delivery) {
	handler, found := d.resolve(n.registry, n.rules)
	if !found {
		panic(fmt.Sprintf("node %s: turn of %s without a handler: the order of the tests lacks one", n.name, d.Item.Instance))
	}
	in, out := n.turnInput(d, handler), &n.arena.output
	turns := n.keep(&in)
	watched := n.watch && in.Kept == nil
	if watched {
		in.Handler, in.Watcher = n.arena.asked.Run(in.Handler), &n.arena.asked
	}
	if err := replay.TurnInto(out, &in); err != nil {
		panic(fmt.Sprintf("node %s: turn of %s: %v", n.name, d.Item.Instance, err))
	}
	if out.Kept != nil {
		if turns++; !out.Resumed {
			turns = 0
		}
		n.kept.put(keptExecution{d.Item.Instance, out.Kept, turns}, n.options.KeptExecutions)
	}
	n.counters.Turns++
	n.counters.countDrops(out.Dropped)
	s.hold.decision = DecideTurn
	s.hold.result, s.hold.category, s.hold.notCarried = out.Result, out.Details.Category(), len(out.NotCarried)
	s.hold.turn = call.AckOrchestrationItem{
		LockToken: d.LockToken, ExecutionID: in.ExecutionID, HistoryDelta: out.Delta,
		WorkerItems: n.rules.WorkerItems(out.WorkerItems), OrchestratorItems: out.OrchestratorItems,
		Metadata: out.Metadata, CancelledActivities: out.Cancelled,
	}
	turn := n.arena.turnNotes.New()
	*turn = TurnNote{
		First: d.begin != nil, Handler: handler.String(), Result: out.Result.String(), Events: len(out.Delta), Polls: out.Polls,
		Resumed: out.Resumed, PanickedAt: out.PanickedAt, Nondeterministic: out.Nondeterministic, Ack: &s.hold.turn,
	}
	if watched {
		turn.Asked = n.arena.asked.Calls()
	}
	n.note(s, Note{Decision: DecideTurn, Dropped: out.Dropped, Turn: turn})
	n.logTurn(d, out)
	s.phase = phaseRunning
	n.jobs++
	s.job = n.jobs
	run := n.arena.turns.New()
	*run = RunTurn{
		Job: s.job, Slot: s.id, Instance: d.Item.Instance, LockTimeout: n.options.OrchestratorLockTimeout,
	}
	n.emit(run)
	n.startRenewing(s)
}
