package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine/machine"
)

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
