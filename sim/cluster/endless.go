package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine/machine"
)

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
	if mine.turns < limit || f.phases.ended {
		return
	}
	f.phases.ended = true
	f.internal = append(f.internal, Violation{
		Property: propertyRunEnds, Class: ClassLiveness, Step: f.steps(), VirtualMs: f.nowMs() - f.startMs(), Node: n.plan.Name, Instance: note.Instance,
		Message: fmt.Sprintf("execution %d of %s (%s, on build %s) has taken %d turns and %d events without ending; no execution that has ended took more than %d turns. "+
			"A loop must end, or continue as new; \"budget %d turns\" permits more",
			note.ExecutionID, note.Instance, note.Turn.Handler, n.running.Name(), mine.turns, mine.events, f.mostTurns, 10*limit),
	})
}
