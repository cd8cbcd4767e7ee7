package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// This file implements the story commands that are calls to the store.

func (r *Rig) begin(caller observe.Caller, kind observe.CallKind, req observe.CallRequest) {
	r.call++
	r.Record(cluster.Record{Kind: record.CallExecuting, Node: caller.Node, Incarnation: caller.Incarnation, Call: r.call, CallKind: kind, Slot: r.slotOf(kind)})
	r.Observe(observe.Observation{Kind: observe.CallBegin, Call: r.call, CallKind: kind, Caller: caller, Request: &req})
}

// slotOf returns the loop that sends a call. Its index comes from the last `slot N` command.
func (r *Rig) slotOf(kind observe.CallKind) machine.Slot {
	slot := machine.Slot{Index: r.index}
	if kind == observe.CallFetchWorkItem || kind == observe.CallAckWorkItem || kind == observe.CallAbandonWorkItem {
		slot.Kind = machine.SlotWorker
	}
	return slot
}

func (r *Rig) end(caller observe.Caller, kind observe.CallKind, o observe.Observation) {
	o.Kind, o.Call, o.CallKind, o.Caller, o.Outcome = observe.CallEnd, r.call, kind, caller, observe.OutcomeOK
	r.Observe(o)
	r.Record(cluster.Record{Kind: record.CallExecuted, Node: caller.Node, Incarnation: caller.Incarnation, Call: r.call, CallKind: kind, Slot: r.slotOf(kind), Outcome: observe.OutcomeOK})
}

// caller returns the node with the given name. Any other name stands for the first probe.
func (r *Rig) caller(name string) observe.Caller {
	if r.node(name) == 0 {
		return observe.Caller{Incarnation: 1}
	}
	return observe.Caller{Node: r.node(name), Incarnation: r.w.Node(r.node(name)).Incarnation}
}

// fetch delivers the visible messages to a node. With decode=3, the store decodes event 3; with cached=3, it has
// already decoded the events up to 3; with unreadable=3, decoding event 3 fails. With error, the history cannot be
// read.
func (r *Rig) fetch(name, instance string, worker bool, more ...string) {
	kind := observe.CallFetchOrchestrationItem
	if worker {
		kind = observe.CallFetchWorkItem
	}
	caller, no := r.caller(name), r.Instance(instance)
	req := observe.CallRequest{}
	if caller.Node != 0 {
		req.Filter = r.w.Node(caller.Node).Filter
	}
	words, value := options(more)
	if value["filter"] == "none" {
		req.Filter = &engine.CapabilityFilter{}
	}
	r.begin(caller, kind, req)
	h := &rigHeld{instance: no, token: fmt.Sprintf("o%d", r.call), worker: worker}
	r.held[name] = h
	lock := observe.Observation{Kind: observe.LockTaken, Call: r.call, Queue: observe.QueueOrchestrator, Instance: no, Token: h.token, UntilMs: r.w.Now + 5000}
	if !worker {
		r.Observe(lock)
	}
	for i := range r.rows {
		row := &r.rows[i]
		if row.instance != no || row.worker != worker || row.visible > r.w.Now {
			continue
		}
		if worker {
			lock.Queue, lock.Message = observe.QueueWorker, row.no
			r.Observe(lock)
		} else {
			r.Observe(observe.Observation{Kind: observe.MessageMarked, Call: r.call, Message: row.no, Instance: no, Token: h.token})
		}
		r.Observe(observe.Observation{Kind: observe.CountChanged, Call: r.call, Queue: lock.Queue, Message: row.no, Instance: no, OldCount: row.count, NewCount: row.count + 1})
		row.count++
		h.rows = append(h.rows, row.no)
		h.told = max(h.told, row.count)
	}
	end := observe.Observation{Instance: no, Messages: h.rows, Token: h.token, NewCount: h.told}
	for _, key := range []string{"decode", "cached", "unreadable"} {
		if value[key] == "" {
			continue
		}
		o := observe.Observation{Kind: observe.EventDecoded, Call: r.call, Instance: no, Execution: 1, EventID: uint64(r.number(value[key])), Outcome: observe.OutcomeOK, Cached: key == "cached"}
		if key == "unreadable" {
			o.Outcome = observe.OutcomePermanent
		}
		r.Observe(o)
	}
	if slices.Contains(words, "error") {
		end.Fetched = &engine.FetchedOrchestration{Item: engine.OrchestrationItem{HistoryError: "unreadable"}, LockToken: h.token, AttemptCount: h.told}
	}
	r.end(caller, kind, end)
}

// note records a node's decision. more has the cause in words, `delay=MS`, `panic=PLACE` and `dropped=RULE`.
func (r *Rig) note(name, decision string, more ...string) {
	h := r.held[name]
	words, value := options(more)
	n := machine.Note{Token: h.token, Instance: r.names[h.instance-1], ExecutionID: 1, AttemptCount: h.told, Cause: strings.Join(words, " ")}
	if value["delay"] != "" {
		n.Delay = time.Duration(r.number(value["delay"])) * time.Millisecond
	}
	n.Slot.Index = r.index
	if h.worker {
		n.Slot.Kind = machine.SlotWorker
	}
	if value["dropped"] != "" {
		n.Dropped = append(n.Dropped, machine.DroppedMessage{Rule: value["dropped"]})
	}
	for d := machine.DecideNone; d <= machine.DecideSwept; d++ {
		if d.String() == decision || d == machine.DecideTurn && decision == "first" {
			n.Decision = d
		}
	}
	if n.Decision == machine.DecideTurn {
		n.Turn = &machine.TurnNote{Handler: "H@1.0.0", Result: "Continue", First: decision == "first", PanickedAt: value["panic"]}
	}
	c := r.caller(name)
	r.Record(cluster.Record{Kind: record.Note, Node: c.Node, Incarnation: c.Incarnation, Note: &n, Slot: n.Slot})
}

func (r *Rig) commit(name, status string) {
	h, caller := r.held[name], r.caller(name)
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: 1, HistoryDelta: []engine.Event{{EventID: 2, Data: eventdata.TimerCreated{}}}}
	if h.written != nil {
		ack = *h.written
	}
	if s := engine.Status(status); s.Terminal() {
		ack.Metadata.Status = s
	}
	kind, req := observe.CallAckOrchestrationItem, observe.CallRequest{Token: h.token, Ack: &ack}
	if h.worker {
		kind, req = observe.CallAckWorkItem, observe.CallRequest{Token: h.token}
	}
	r.begin(caller, kind, req)
	if status == "nothing" {
		r.end(caller, kind, observe.Observation{})
		return
	}
	for _, no := range h.rows {
		r.remove(no, observe.RemovedAcked)
	}
	if h.worker && status == "told" {
		r.insert(r.call, engine.ActivityCompletedItem{Instance: r.names[h.instance-1], ExecutionID: 1, ID: 2}, r.w.Now)
	}
	if status == "cancels" {
		status = ""
		r.removeWork(h.instance, observe.RemovedCancelled)
	}
	if !h.worker {
		if h.written != nil {
			r.stored(h)
		}
		if status != "" {
			r.Observe(observe.Observation{Kind: observe.StatusSet, Call: r.call, Instance: h.instance, Execution: ack.ExecutionID, Status: engine.Status(status)})
		}
		r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token})
	}
	r.end(caller, kind, observe.Observation{})
}

// removeWork removes an instance's activities.
func (r *Rig) removeWork(of observe.InstanceNo, reason observe.RemoveReason) {
	for i := range r.rows {
		if r.rows[i].worker && r.rows[i].instance == of {
			r.remove(r.rows[i].no, reason)
		}
	}
}

func (r *Rig) remove(no observe.MessageNo, reason observe.RemoveReason) {
	i := slices.IndexFunc(r.rows, func(row rigRow) bool { return row.no == no })
	row := r.rows[i]
	queue := observe.QueueOrchestrator
	if row.worker {
		queue = observe.QueueWorker
	}
	r.rows[i].instance = 0
	r.Observe(observe.Observation{Kind: observe.RowRemoved, Call: r.call, Queue: queue, Message: no, Instance: row.instance, Reason: reason})
}

func (r *Rig) abandon(name string, delay int64, ignore bool) {
	h, caller := r.held[name], r.caller(name)
	kind, queue := observe.CallAbandonOrchestrationItem, observe.QueueOrchestrator
	if h.worker {
		kind, queue = observe.CallAbandonWorkItem, observe.QueueWorker
	}
	r.begin(caller, kind, observe.CallRequest{Token: h.token, Delay: time.Duration(delay) * time.Millisecond, IgnoreAttempt: ignore})
	for i := range r.rows {
		row := &r.rows[i]
		if !slices.Contains(h.rows, row.no) {
			continue
		}
		if ignore {
			r.Observe(observe.Observation{Kind: observe.CountChanged, Call: r.call, Queue: queue, Message: row.no, Instance: h.instance, OldCount: row.count, NewCount: row.count - 1})
			row.count--
		}
		if h.worker {
			r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: queue, Message: row.no, Instance: h.instance, Token: h.token})
		}
		row.visible = r.w.Now + delay
		r.Observe(observe.Observation{Kind: observe.RowDelayed, Call: r.call, Queue: queue, Message: row.no, Instance: h.instance, UntilMs: row.visible})
	}
	if !h.worker {
		r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: queue, Instance: h.instance, Token: h.token})
	}
	r.end(caller, kind, observe.Observation{})
}
