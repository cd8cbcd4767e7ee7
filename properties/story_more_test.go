package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/cluster"
)

// This file has the lines of stories about what nodes do and what befalls them, and the events of turns that cancel and
// start others.

// tellNode turns a line about a node into a record, and says whether it is one.
//
//	pause A / resume A / crash A
//	fault A lost-renewal renew        a fault hits a call of A
//	run A order-1 1/2                 A runs the activity of that execution and event
func (s *story) tellNode(f []string) bool {
	kind, ok := map[string]cluster.RecordKind{
		"pause": cluster.RecNodePaused, "resume": cluster.RecNodeResumed, "crash": cluster.RecNodeCrashed,
		"fault": cluster.RecFault, "run": cluster.RecActivityStarted,
	}[f[0]]
	if !ok {
		return false
	}
	c := s.caller(f[1])
	r := cluster.Record{Kind: kind, Node: c.Node, Incarnation: c.Incarnation, AtMs: s.w.nowMs}
	switch f[0] {
	case "fault":
		r.Fault, r.CallKind = faults.Kind(f[2]), callKinds[f[3]]
	case "run":
		r.Activity = &node.RunActivity{Item: s.item(f[2], "ActivityExecute", f[3], 0).(engine.ActivityExecuteItem)}
	}
	s.m.Record(&r)
	return true
}

// turnEvent is an event that story.event does not have.
func turnEvent(kind string) engine.EventData {
	switch kind {
	case "OrchestrationChained":
		return engine.OrchestrationChained{Name: "Order", Instance: "message-1"}
	case "ActivityCancelRequested":
		return engine.ActivityCancelRequested{Reason: engine.ReasonDroppedFuture}
	case "Cancelled":
		return engine.OrchestrationFailed{Details: engine.ErrorDetails{Application: &engine.ApplicationError{Kind: engine.AppCancelled}}}
	case "Nondeterministic":
		return engine.OrchestrationFailed{Details: engine.Nondeterminism("the code went another way")}
	}
	return nil
}
