package monitor_test

import (
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
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
		ack := r.ackOf(r.names[h.instance-1], h.token, words, value)
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

// ackOf returns an ack of an instance. It parses `[EVENTS and MESSAGES] [execution=2] [cancels=ID [of=EXECUTION]]
// [status=STATUS] [output=TEXT] [pin=VERSION] [name=NAME@VERSION]`.
func (r *Rig) ackOf(instance, token string, words []string, value map[string]string) engine.OrchestrationAck {
	ack := engine.OrchestrationAck{LockToken: token, ExecutionID: 1}
	if value["execution"] != "" {
		ack.ExecutionID = uint64(r.number(value["execution"]))
	}
	var items []engine.WorkItem
	ack.HistoryDelta, items = r.delta(instance, words)
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
		a := engine.ScheduledActivityIdentifier{Instance: instance, ExecutionID: ack.ExecutionID, ActivityID: uint64(r.number(value["cancels"]))}
		if value["of"] != "" {
			a.ExecutionID = uint64(r.number(value["of"]))
		}
		ack.CancelledActivities = append(ack.CancelledActivities, a)
	}
	m := &ack.Metadata
	m.Status = engine.Status(value["status"])
	m.OrchestrationName, m.OrchestrationVersion, _ = strings.Cut(value["name"], "@")
	if value["pin"] != "" {
		m.PinnedVersion = version(value["pin"])
	}
	if text := value["output"]; text != "" {
		m.Output = &text
	}
	return ack
}

// stored reports what the store writes for an ack whose contents the story gives.
func (r *Rig) stored(h *rigHeld) {
	ack := h.written
	set := func(kind observe.Kind, status engine.Status) {
		r.Observe(observe.Observation{Kind: kind, Call: r.call, Instance: h.instance, Execution: ack.ExecutionID, Status: status})
	}
	in, m := r.M.Model.Instance(h.instance), &ack.Metadata
	if m.OrchestrationName != "" && !in.Created {
		r.Observe(observe.Observation{Kind: observe.InstanceCreated, Call: r.call, Instance: h.instance, Name: m.OrchestrationName, Token: m.OrchestrationVersion, Execution: ack.ExecutionID})
	}
	if ack.ExecutionID > 1 || r.exact && in.Execution(1) == nil {
		set(observe.ExecutionCreated, engine.StatusRunning)
	}
	if ack.ExecutionID > 1 {
		set(observe.PointerSet, "")
	}
	if p := m.PinnedVersion; p != nil {
		pin := engine.V(p.Major, p.Minor, p.Patch)
		r.Observe(observe.Observation{Kind: observe.PinSet, Call: r.call, Instance: h.instance, Execution: ack.ExecutionID, Pin: &pin})
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
	case n > 2 && words[2] == "ack" && r.held[words[1]] != nil:
		rec.Call, rec.CallKind = r.acking(words[1])
		rec.Slot = r.slotOf(rec.CallKind)
	case n > 2 && words[2] == "fetch":
		rec.Call, rec.CallKind = r.asked[words[1]], observe.CallFetchOrchestrationItem
	case n > 2 && callKinds[words[2]] != observe.CallNone:
		rec.CallKind = callKinds[words[2]]
	case n > 2:
		rec.Instance = words[2]
		if n > 3 {
			rec.Item = r.item(words[3])
		}
	}
	r.Record(rec)
}
