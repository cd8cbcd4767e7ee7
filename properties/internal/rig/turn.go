package rig

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
)

// renew extends the lock of the last delivery to a node.
func (r *Rig) renew(name string) {
	h, caller := r.held[name], r.caller(name)
	r.begin(caller, observe.CallRenewOrchestrationItemLock, observe.CallRequest{Token: h.token})
	r.Observe(observe.Observation{Kind: observe.LockExtended, Call: r.call, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token, UntilMs: r.w.Now + 5000})
	r.end(caller, observe.CallRenewOrchestrationItemLock, observe.Observation{})
}

// Turn commits an event for the last delivery to a node, in an execution that may be new, and enqueues messages.
func (r *Rig) Turn(name string, execution uint64, status string, e engine.Event, sends ...engine.WorkItem) {
	h, caller := r.held[name], r.caller(name)
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: execution, HistoryDelta: []engine.Event{e}, OrchestratorItems: sends}
	r.begin(caller, observe.CallAckOrchestrationItem, observe.CallRequest{Token: h.token, Ack: &ack})
	for _, no := range h.rows {
		r.remove(no)
	}
	set := func(kind observe.Kind, status string) {
		r.Observe(observe.Observation{Kind: kind, Call: r.call, Instance: h.instance, Execution: execution, Status: engine.Status(status)})
	}
	set(observe.ExecutionCreated, "Running")
	if status != "" {
		set(observe.StatusSet, status)
	}
	for _, item := range sends {
		r.rows = append(r.rows, rigRow{no: observe.MessageNo(len(r.rows) + 1), instance: r.Instance(item.Target()), visible: r.w.Now})
		r.Observe(observe.Observation{
			Kind: observe.RowInserted, Call: r.call, Queue: observe.QueueOrchestrator, Message: observe.MessageNo(len(r.rows)),
			Instance: r.Instance(item.Target()), Item: item, UntilMs: r.w.Now,
		})
	}
	r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token})
	r.end(caller, observe.CallAckOrchestrationItem, observe.Observation{})
}
