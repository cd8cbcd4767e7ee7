package monitor_test

import (
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

// renew extends the lock on the work delivered last to a node.
func (r *Rig) renew(name string) {
	h, caller := r.held[name], r.caller(name)
	kind, o := observe.CallRenewOrchestrationItemLock, observe.Observation{Kind: observe.LockExtended, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token, UntilMs: r.w.Now + 5000}
	if h.worker {
		kind, o.Queue, o.Message = observe.CallRenewWorkItemLock, observe.QueueWorker, h.rows[0]
	}
	r.begin(caller, kind, observe.CallRequest{Token: h.token})
	o.Call = r.call
	r.Observe(o)
	r.end(caller, kind, observe.Observation{})
}

// turn executes `turn A EXECUTION [STATUS] [schedules=CHILD] [sends=KIND:INSTANCE:PARENT/EXECUTION/EVENT,...]`.
func (r *Rig) turn(words []string, value map[string]string) {
	e := engine.Event{EventID: 2, Data: eventdata.TimerCreated{}}
	if child := value["schedules"]; child != "" {
		e.Data = eventdata.SubOrchestrationScheduled{Name: "H", Instance: child}
	}
	var sends []engine.WorkItem
	for text := range strings.SplitSeq(value["sends"], ",") {
		if text == "" {
			continue
		}
		f := strings.Split(text+"::", ":")
		from := strings.Split(f[2]+"//", "/")
		execution, _ := strconv.ParseUint(from[1], 10, 64)
		id, _ := strconv.ParseUint(from[2], 10, 64)
		switch f[0] {
		case "start":
			sends = append(sends, engine.StartItem{Instance: f[1], Orchestration: "H", ParentInstance: from[0], ParentExecutionID: execution, ParentID: id})
		case "can":
			sends = append(sends, engine.ContinueAsNewItem{Instance: f[1], Orchestration: "H", ParentInstance: from[0], ParentExecutionID: execution, ParentID: id})
		case "done":
			sends = append(sends, engine.SubOrchCompletedItem{ParentInstance: f[1], ParentExecutionID: execution, ParentID: id, Result: "done"})
		case "failed":
			sends = append(sends, engine.SubOrchFailedItem{ParentInstance: f[1], ParentExecutionID: execution, ParentID: id})
		default:
			r.t.Fatalf("no message %q", text)
		}
	}
	r.Turn(words[0], uint64(r.number(words[1])), strings.Join(words[2:], ""), e, sends...)
}

// Turn commits an event for the delivery that a node got last, in an execution that may be new, and enqueues messages.
func (r *Rig) Turn(name string, execution uint64, status string, e engine.Event, sends ...engine.WorkItem) {
	h, caller := r.held[name], r.caller(name)
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: execution, HistoryDelta: []engine.Event{e}, OrchestratorItems: sends}
	r.begin(caller, observe.CallAckOrchestrationItem, observe.CallRequest{Token: h.token, Ack: &ack})
	for _, no := range h.rows {
		r.remove(no, observe.RemovedAcked)
	}
	set := func(kind observe.Kind, status string) {
		r.Observe(observe.Observation{Kind: kind, Call: r.call, Instance: h.instance, Execution: execution, Status: engine.Status(status)})
	}
	set(observe.ExecutionCreated, "Running")
	if execution > 1 {
		set(observe.PointerSet, "")
	}
	if status != "" {
		set(observe.StatusSet, status)
	}
	for _, item := range sends {
		r.insert(r.call, item, r.w.Now)
	}
	r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token})
	r.end(caller, observe.CallAckOrchestrationItem, observe.Observation{})
}
