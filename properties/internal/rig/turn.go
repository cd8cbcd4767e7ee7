package rig

import "github.com/durosim/durosim/engine"

// renew extends the lock of the last delivery to a node.
func (r *Rig) renew(name string) {
	h, caller := r.held[name], r.caller(name)
	r.begin(caller, engine.CallRenewOrchestrationItemLock, engine.CallRequest{Token: h.token})
	r.Observe(engine.Observation{Kind: engine.ObsLockExtended, Call: r.call, Queue: engine.QueueOrchestrator, Instance: h.instance, Token: h.token, UntilMs: r.w.Now + 5000})
	r.end(caller, engine.CallRenewOrchestrationItemLock, engine.Observation{})
}

// Turn commits an event for the last delivery to a node, in an execution that may be new, and enqueues messages.
func (r *Rig) Turn(name string, execution uint64, status string, e engine.Event, sends ...engine.WorkItem) {
	h, caller := r.held[name], r.caller(name)
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: execution, HistoryDelta: []engine.Event{e}, OrchestratorItems: sends}
	r.begin(caller, engine.CallAckOrchestrationItem, engine.CallRequest{Token: h.token, Ack: &ack})
	for _, no := range h.rows {
		r.remove(no)
	}
	set := func(kind engine.ObservationKind, status string) {
		r.Observe(engine.Observation{Kind: kind, Call: r.call, Instance: h.instance, Execution: execution, Status: engine.Status(status)})
	}
	set(engine.ObsExecutionCreated, "Running")
	if status != "" {
		set(engine.ObsStatusSet, status)
	}
	for _, item := range sends {
		r.rows = append(r.rows, rigRow{no: engine.MessageNo(len(r.rows) + 1), instance: r.Instance(item.Target()), visible: r.w.Now})
		r.Observe(engine.Observation{
			Kind: engine.ObsRowInserted, Call: r.call, Queue: engine.QueueOrchestrator, Message: engine.MessageNo(len(r.rows)),
			Instance: r.Instance(item.Target()), Item: item, UntilMs: r.w.Now,
		})
	}
	r.Observe(engine.Observation{Kind: engine.ObsLockReleased, Call: r.call, Queue: engine.QueueOrchestrator, Instance: h.instance, Token: h.token})
	r.end(caller, engine.CallAckOrchestrationItem, engine.Observation{})
}
