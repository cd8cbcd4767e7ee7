package monitor_test

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// This file implements calls that a node has sent but the store has not executed yet, and the faults that hit them.

// fetches records that a node has sent a fetch. The story's next call executes it.
func (r *Rig) fetches(name string, work bool) {
	c := r.caller(name)
	rec := cluster.Record{Kind: record.CallSent, Node: c.Node, Incarnation: c.Incarnation, Call: r.call + 1, Request: call.FetchOrchestrationItem{}}
	if work {
		rec.Request = call.FetchWorkItem{}
	}
	r.asked[name] = rec.Call
	rec.CallKind = call.Kind(rec.Request)
	r.Record(rec)
}

// acks records that a node has sent the ack of its last delivery. The story's next call executes it.
func (r *Rig) acks(name string, words []string, value map[string]string) {
	h, c := r.held[name], r.caller(name)
	rec := cluster.Record{Kind: record.CallSent, Node: c.Node, Incarnation: c.Incarnation, Call: r.call + 1, Request: call.AckWorkItem{LockToken: h.token}}
	h.ack = rec.Call
	if !h.worker {
		ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: 1}
		if value["execution"] != "" {
			ack.ExecutionID = uint64(r.number(value["execution"]))
		}
		var items []engine.WorkItem
		ack.HistoryDelta, items = r.delta(r.names[h.instance-1], words)
		for i := range ack.HistoryDelta {
			ack.HistoryDelta[i].ExecutionID = ack.ExecutionID
		}
		for _, item := range items {
			if item.Kind() == engine.ItemActivityExecute {
				ack.WorkerItems = append(ack.WorkerItems, item)
			} else {
				ack.OrchestratorItems = append(ack.OrchestratorItems, item)
			}
		}
		if value["cancels"] != "" {
			a := engine.ScheduledActivityIdentifier{Instance: r.names[h.instance-1], ExecutionID: ack.ExecutionID, ActivityID: uint64(r.number(value["cancels"]))}
			if value["of"] != "" {
				a.ExecutionID = uint64(r.number(value["of"]))
			}
			ack.CancelledActivities = append(ack.CancelledActivities, a)
		}
		if len(words) > 0 {
			h.written = &ack
		}
		rec.Request = call.AckOrchestrationItem(ack)
	}
	_, kind := r.acking(name)
	rec.Slot = r.slotOf(kind)
	rec.CallKind = call.Kind(rec.Request)
	r.Record(rec)
}

// stored reports what the store writes for an ack whose contents the story gives.
func (r *Rig) stored(h *rigHeld) {
	ack := h.written
	set := func(kind observe.Kind, status engine.Status) {
		r.Observe(observe.Observation{Kind: kind, Call: r.call, Instance: h.instance, Execution: ack.ExecutionID, Status: status})
	}
	if ack.ExecutionID > 1 {
		set(observe.ExecutionCreated, engine.StatusRunning)
		set(observe.PointerSet, "")
	}
	for _, e := range ack.HistoryDelta {
		r.Observe(observe.Observation{Kind: observe.EventAppended, Call: r.call, Instance: h.instance, Execution: ack.ExecutionID, EventID: e.EventID, Bytes: r.encode(e)})
	}
	for _, item := range ack.WorkerItems {
		r.insert(r.call, item, r.w.Now)
	}
	for _, item := range ack.OrchestratorItems {
		r.insert(r.call, item, r.w.Now)
	}
}

// started records that a node starts the activity that it received last.
func (r *Rig) started(name string) {
	h, c := r.held[name], r.caller(name)
	item, ok := r.M.Run.Model.Row(h.rows[0]).Item.(engine.ActivityExecuteItem)
	if !ok {
		r.t.Fatalf("%s holds no activity", name)
	}
	r.Record(cluster.Record{Kind: record.ActivityStarted, Node: c.Node, Incarnation: c.Incarnation, Activity: &machine.RunActivity{Item: item}})
}

// fault parses `KIND A|- [x [MESSAGE]] [for=MS] [ack|fetch]` and records the fault.
func (r *Rig) fault(words []string, value map[string]string) {
	c := r.caller(words[1])
	rec := cluster.Record{Kind: record.Fault, Fault: faults.Kind(words[0]), Node: c.Node, Incarnation: c.Incarnation}
	if value["for"] != "" {
		rec.For = time.Duration(r.number(value["for"])) * time.Millisecond
	}
	switch n := len(words); {
	case n > 2 && words[2] == "ack":
		rec.Call, rec.CallKind = r.acking(words[1])
		rec.Slot = r.slotOf(rec.CallKind)
	case n > 2 && words[2] == "fetch":
		rec.Call, rec.CallKind = r.asked[words[1]], observe.CallFetchOrchestrationItem
	case n > 2:
		rec.Instance = words[2]
		if n > 3 {
			rec.Item = r.item(words[3])
		}
	}
	r.Record(rec)
}

// raw makes an observation in the last call that no other command can make. Message N now has the count VALUE or is
// delayed until VALUE, instance N is locked or its lock extended until VALUE, or instance N's row is removed.
func (r *Rig) raw(what string, n int64, arg func(int) string, undo bool) {
	value := r.number(arg(2))
	o := observe.Observation{Call: r.call, Queue: observe.QueueOrchestrator, Undo: undo}
	switch what {
	case "count":
		row := &r.rows[n-1]
		o.Kind, o.Message, o.Instance, o.OldCount, o.NewCount = observe.CountChanged, row.no, row.instance, row.count, uint32(value)
		row.count = uint32(value)
	case "delay":
		o.Kind, o.Message, o.Instance, o.UntilMs = observe.RowDelayed, observe.MessageNo(n), r.rows[n-1].instance, rig.StartMs+value
	case "lock":
		o.Kind, o.Instance, o.Token, o.UntilMs = observe.LockTaken, observe.InstanceNo(n), "raw", rig.StartMs+value
	case "extend":
		o.Kind, o.Instance, o.Token, o.UntilMs = observe.LockExtended, observe.InstanceNo(n), "raw", rig.StartMs+value
	case "removed":
		o.Kind, o.Instance = observe.InstanceRemoved, observe.InstanceNo(n)
	default:
		r.t.Fatalf("no observation %q", what)
	}
	r.Observe(o)
}
