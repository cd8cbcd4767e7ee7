package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim/record"
)

// step feeds one input to a node and carries out the effects it returns.
func (f *fleet) step(n *nodeState, in machine.Input) {
	f.changed = true
	inc := n.inc
	if f.nodeEffects != nil { // a nested step allocates its own slice, to preserve the outer step's effects
		f.arena.nodes.NextStep()
	}
	effects := n.machine.StepInto(in, f.nodeEffects[:0])
	f.nodeEffects = nil
	f.check(n)
	for _, c := range effects {
		if n.machine == nil || n.inc != inc {
			break // the node crashed while sending
		}
		f.do(n, c)
	}
	clear(effects)
	f.nodeEffects = effects
}

// do carries out one of a node's effects.
func (f *fleet) do(n *nodeState, c machine.Effect) {
	switch c := c.(type) {
	case *machine.ProviderCall:
		f.network.send(n, c)
	case *machine.CancelCall:
		f.network.cancelCall(n, c.ID)
	case *machine.SetTimer:
		h := f.kernel.After(c.After, n.incKey.Num(labelTimer, uint64(c.Timer)), event{kind: evTimer, node: n.number, inc: n.inc, a: uint64(c.Timer)})
		n.timers = append(n.timers, timer{c.Timer, h})
	case *machine.CancelTimer:
		if t, ok := n.takeTimer(c.Timer); ok {
			f.kernel.Cancel(t.handle)
		}
	case *machine.RunTurn:
		f.runTurn(n, c)
	case *machine.RunActivity:
		f.runActivity(n, c)
	case *machine.CancelJob:
		if j, ok := n.takeJob(c.Job); ok {
			f.kernel.Cancel(j.handle)
		}
	case *machine.Log:
		f.newRecord(record.Log, n.number, n.inc).Log = c
		f.emit()
	case *machine.Note:
		if c.Decision == machine.DecideTurn {
			f.countTurn(n, c)
		}
		f.checkHandler(n, c)
		r := f.newRecord(record.Note, n.number, n.inc)
		r.Note, r.Slot = c, c.Slot
		f.emit()
	case *machine.Stopped:
		f.stopped(n)
	default:
		panic(fmt.Sprintf("cluster: call %T", c))
	}
}

// Every turn of an execution replays all earlier turns, so its cost grows with the square of their number. An execution
// that takes far more turns than normal therefore ends the run long before the step budget is used up. "Far more" means
// more than turnsLeast turns, and more than turnsTimes as many as any execution of the run that has ended.
const (
	turnsLeast = 1000
	turnsTimes = 20
)

// executionTurns counts the turns and events of an instance's current execution.
type executionTurns struct {
	execution     uint64
	turns, events int
}

// countTurn counts a computed turn and ends the run if the execution seems endless.
func (f *fleet) countTurn(n *nodeState, note *machine.Note) {
	f.turns++
	if note.Turn == nil {
		return
	}
	mine := f.executions[note.Instance]
	if mine == nil || mine.execution != note.ExecutionID {
		mine = f.arena.executions.New()
		mine.execution = note.ExecutionID
		f.executions[note.Instance] = mine
	}
	mine.turns++
	mine.events += note.Turn.Events
	if note.Turn.Result != "Continue" {
		f.mostTurns = max(f.mostTurns, mine.turns)
		return
	}
	limit := int(f.plan.TurnBudget)
	if limit == 0 {
		limit = max(turnsLeast, turnsTimes*f.mostTurns)
	}
	if mine.turns < limit || f.ended {
		return
	}
	f.ended = true
	f.internal = append(f.internal, Violation{
		Property: propertyRunEnds, Class: ClassLiveness, Step: f.steps(), VirtualMs: f.nowMs() - f.startMs(), Node: n.plan.Name, Instance: note.Instance,
		Message: fmt.Sprintf("execution %d of %s (%s, on build %s) has taken %d turns and %d events without ending; no execution that has ended took more than %d turns. "+
			"A loop must end, or continue as new; \"budget %d turns\" permits more",
			note.ExecutionID, note.Instance, note.Turn.Handler, n.running.Name(), mine.turns, mine.events, f.mostTurns, 10*limit),
	})
}

// propertyHandler is violated if two computations of a turn differ (Config.DoubleCheck).
const propertyHandler = "handler-deterministic"

// handlerReports limits how many handler violations a run reports.
const handlerReports = 3

// checkHandler reports a turn for which the two computations differ.
func (f *fleet) checkHandler(n *nodeState, note *machine.Note) {
	if note.Turn == nil || note.Turn.Nondeterministic == "" {
		return
	}
	if f.handlerFaults++; f.handlerFaults > handlerReports {
		return
	}
	f.internal = append(f.internal, Violation{
		Property: propertyHandler, Class: ClassHandler, Step: f.steps(), VirtualMs: f.nowMs() - f.startMs(), Node: n.plan.Name, Instance: note.Instance,
		Message: fmt.Sprintf("two computations of one turn of %s (execution %d, handler %s) from the same history and messages differ: %s; expected a handler that reads nothing but its input and history: no clock, no map order, no random number, no state between calls",
			note.Instance, note.ExecutionID, note.Turn.Handler, note.Turn.Nondeterministic),
	})
}
