package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/workload"
)

// step feeds one input to a node and carries out the effects it returns.
func (f *fleet) step(n *nodeState, in machine.Input) {
	f.changed = true
	inc := n.inc
	n.cause = ""
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
		n.cause = c.Cause
		r := f.newRecord(record.Note, n.number, n.inc)
		r.Note, r.Slot = c, c.Slot
		f.emit()
	case *machine.ActivityPanicked:
		f.checkPanic(n, c.Activity.Instance, "activity "+c.Activity.Name, c.At, c.Text)
	case *machine.Stopped:
		f.stopped(n)
	default:
		panic(fmt.Sprintf("cluster: call %T", c))
	}
}

// Every turn of an execution replays all earlier turns, so its cost grows with the square of their number. An execution
// that takes far more turns than normal, or an instance with far more executions, therefore ends the run long before the
// step budget is used up. "Far more" means more than turnsLeast, and more than turnsTimes as many as any that has ended.
const (
	turnsLeast = 400
	turnsTimes = 20
)

// executionTurns counts an instance's executions, and the turns and events of the current one.
type executionTurns struct {
	execution                 uint64
	turns, events, executions int
}

// countTurn counts a computed turn and ends the run if the execution, or the instance, seems endless.
func (f *fleet) countTurn(n *nodeState, note *machine.Note) {
	f.turns++
	if note.Turn == nil {
		return
	}
	mine := f.executions[note.Instance]
	if mine == nil {
		mine = f.arena.executions.New()
		f.executions[note.Instance] = mine
		// The ids of children contain those of their parents, so what grows with their depth grows with its square, too.
		const below = "::" + eventdata.ChildPrefix
		if limit := f.endless(strings.Count(note.Instance, below), 0); limit > 0 {
			root, _, _ := strings.Cut(note.Instance, below)
			f.unending(n, root, fmt.Sprintf("the children of %s have children of their own, and so on, %d deep, the last by %s, on build %s. Code that starts itself as a child must end at some depth; \"budget %d turns\" permits more",
				root, limit, note.Turn.Handler, n.running.Name(), 10*limit))
		}
	}
	if mine.execution != note.ExecutionID {
		*mine = executionTurns{execution: note.ExecutionID, executions: mine.executions + 1}
	}
	mine.turns++
	mine.events += note.Turn.Events
	switch note.Turn.Result {
	case "Continue":
		if limit := f.endless(mine.turns, f.mostTurns); limit > 0 {
			f.unendingExecution(n, note, "has taken %d turns and %d events without ending; no execution that has ended took more than %d turns. A loop must end, or continue as new; \"budget %d turns\" permits more",
				mine.turns, mine.events, f.mostTurns, 10*limit)
		}
		return
	case "ContinueAsNew":
		if limit := f.endless(mine.executions, f.mostExecutions); limit > 0 && !f.mayGoOn(note.Instance) {
			f.unendingExecution(n, note, "continues as new, after %d executions without an end; no instance that has ended had more than %d. It must end at some time, or the plan must say \"expect eternal\"; \"budget %d turns\" permits more",
				mine.executions, f.mostExecutions, 10*limit)
		}
	default:
		f.mostExecutions = max(f.mostExecutions, mine.executions)
	}
	f.mostTurns = max(f.mostTurns, mine.turns)
}

// endless returns the limit that a number has reached, or 0. most is the highest number of any that has ended.
func (f *fleet) endless(number, most int) (limit int) {
	limit = int(f.plan.TurnBudget)
	if limit == 0 {
		limit = max(turnsLeast, turnsTimes*most)
	}
	if number < limit || f.ended {
		return 0
	}
	return limit
}

// mayGoOn reports whether an instance may continue as new for ever: the plan says so, or it is a child whose parent was
// poisoned, or is gone, and so has not ended it. A parent that ends by itself ends its children.
func (f *fleet) mayGoOn(instance string) bool {
	for i := range f.plan.Instances {
		if p := &f.plan.Instances[i]; p.ID == instance {
			return p.Expect == plan.EndEternal || p.Expect == plan.EndAny
		}
	}
	if mine, _ := f.store.Peek(instance); mine.Parent != "" {
		parent, _ := f.store.Peek(mine.Parent)
		return !parent.Created || parent.Output != nil && strings.HasPrefix(*parent.Output, "poison: ")
	}
	return false
}

// unendingExecution ends the run because of an execution that seems endless.
func (f *fleet) unendingExecution(n *nodeState, note *machine.Note, format string, args ...any) {
	f.unending(n, note.Instance, fmt.Sprintf("execution %d of %s (%s, on build %s) ", note.ExecutionID, note.Instance, note.Turn.Handler, n.running.Name())+fmt.Sprintf(format, args...))
}

// unending ends the run because of an instance that seems endless.
func (f *fleet) unending(n *nodeState, instance, message string) {
	f.ended = true
	f.violated(Violation{Property: PropertyRunEnds, Class: ClassLiveness, Node: n.plan.Name, Instance: instance, Message: message})
}

// propertyHandler is violated if two computations of a turn differ (Config.DoubleCheck).
const propertyHandler = "handler-deterministic"

// handlerReports limits how many handler violations a run reports.
const handlerReports = 3

// PropertyHandlerPanics is violated if a user's code panics, or uses a Context from another goroutine, and the plan does
// not say that it may. What is shipped, and programs, panic as they are told.
const PropertyHandlerPanics = "handler-panics"

func (f *fleet) checkPanic(n *nodeState, instance, code, at, text string) {
	name, _, _ := strings.Cut(code, "@")
	shipped := f.shippedHandlers || strings.HasPrefix(at, "workload.") && slices.Contains(workload.Names(), name)
	if at = cmp.Or(at, "an unknown place"); shipped || f.plan.Panics || f.plan.Programs.Lookup(name) != nil || slices.Contains(f.panics, at) {
		return
	}
	f.panics = append(f.panics, at)
	f.blameHandler(n, PropertyHandlerPanics, instance, fmt.Sprintf("%s of %s panicked at %s: %s. Who started it sees a failure and may go on as if all were well; \"expect panics\" permits it",
		code, instance, at, text))
}

func (f *fleet) blameHandler(n *nodeState, property, instance, message string) {
	if f.handlerFaults++; f.handlerFaults <= handlerReports {
		f.violated(Violation{Property: property, Class: ClassHandler, Node: n.plan.Name, Instance: instance, Message: message})
	}
}

// checkHandler reports a turn whose code panicked, or for which the two computations differ.
func (f *fleet) checkHandler(n *nodeState, note *machine.Note) {
	if note.Turn == nil {
		return
	}
	if note.Turn.PanickedAt != "" {
		for _, e := range note.Turn.Ack.HistoryDelta {
			if failed, ok := e.Data.(eventdata.OrchestrationFailed); ok {
				f.checkPanic(n, note.Instance, note.Turn.Handler, note.Turn.PanickedAt, failed.Details.Application.Message)
			}
		}
	}
	if note.Turn.Nondeterministic == "" {
		return
	}
	f.blameHandler(n, propertyHandler, note.Instance, fmt.Sprintf("two computations of one turn of %s (execution %d, handler %s) from the same history and messages differ: %s; expected a handler that reads nothing but its input and history: no clock, no map order, no random number, no state between calls",
		note.Instance, note.ExecutionID, note.Turn.Handler, note.Turn.Nondeterministic))
}
