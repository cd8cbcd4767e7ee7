package monitor_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// This file implements the story commands that are calls to the store.

func (r *Rig) begin(caller observe.Caller, kind observe.CallKind, req observe.CallRequest) {
	r.call++
	if req.LockTimeout == 0 {
		req.LockTimeout = 5 * time.Second
	}
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
	o.Kind, o.Call, o.CallKind, o.Caller, o.Outcome = observe.CallEnd, r.call, kind, caller, cmp.Or(o.Outcome, observe.OutcomeOK)
	r.Observe(o)
	r.Record(cluster.Record{Kind: record.CallExecuted, Node: caller.Node, Incarnation: caller.Incarnation, Call: r.call, CallKind: kind, Slot: r.slotOf(kind), Outcome: o.Outcome})
}

// caller returns the node with the given name. Any other name stands for the first probe.
func (r *Rig) caller(name string) observe.Caller {
	if c, ok := clients[name]; ok {
		return c
	}
	if r.node(name) == 0 {
		return observe.Caller{Incarnation: 1}
	}
	return observe.Caller{Node: r.node(name), Incarnation: r.w.Node(r.node(name)).Incarnation}
}

// fetch delivers the visible messages to a node, or those that are named, as m3,m1. With filter=any, none or
// MIN..MAX,MIN..MAX, it has another filter than the node's, with lock=2000 another time for its lock, and with session=ID a
// session. With decode=3, the store decodes event 3; with cached=3, it has already decoded the events up to 3; with
// unreadable=3, decoding event 3 fails. With error, the history cannot be read. For exact stories, see also delivers.
func (r *Rig) fetch(name, instance string, worker bool, more ...string) {
	kind := observe.CallFetchOrchestrationItem
	if worker {
		kind = observe.CallFetchWorkItem
	}
	caller, no := r.caller(name), r.Instance(instance)
	words, value := options(more)
	req := observe.CallRequest{Filter: r.filter(caller, value["filter"]), LockTimeout: 5 * time.Second}
	if value["lock"] != "" {
		req.LockTimeout = time.Duration(r.number(value["lock"])) * time.Millisecond
	}
	if worker {
		req.Filter = nil
	}
	r.begin(caller, kind, req)
	h := &rigHeld{instance: no, token: fmt.Sprintf("o%d", r.call), worker: worker}
	if r.exact {
		of := "o"
		if worker {
			of = "w"
		}
		r.token[of]++
		h.token = cmp.Or(value["token"], fmt.Sprint(of, r.token[of]))
	}
	r.held[name], r.tokens[h.token] = h, h
	lock := observe.Observation{Kind: observe.LockTaken, Call: r.call, Queue: observe.QueueOrchestrator, Instance: no, Token: h.token, UntilMs: r.w.Now + req.LockTimeout.Milliseconds()}
	if !worker {
		r.Observe(lock)
	}
	for _, row := range r.batch(no, worker, words) {
		if worker {
			lock.Queue, lock.Message = observe.QueueWorker, row.No
			r.Observe(lock)
		} else {
			r.Observe(observe.Observation{Kind: observe.MessageMarked, Call: r.call, Queue: observe.QueueOrchestrator, Message: row.No, Instance: no, Token: h.token})
		}
		r.Observe(observe.Observation{Kind: observe.CountChanged, Call: r.call, Queue: lock.Queue, Message: row.No, Instance: no, OldCount: row.Count, NewCount: row.Count + 1})
		h.rows = append(h.rows, row.No)
		h.told = max(h.told, row.Count)
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
	if r.exact {
		if ex := r.M.Model.Instance(no).Latest(); ex != nil && value["events"] == "" && !slices.Contains(words, "error") {
			value["events"] = fmt.Sprint(len(ex.Events))
		}
		r.delivers(&end, kind, slices.Contains(words, "error"), value)
	} else if slices.Contains(words, "error") {
		end.Fetched = &engine.FetchedOrchestration{Item: engine.OrchestrationItem{HistoryError: "unreadable"}, LockToken: h.token, AttemptCount: h.told}
	}
	r.end(caller, kind, end)
}

// batch returns the rows that a fetch delivers: the visible ones, or those that the line names, as `m1,m2`.
func (r *Rig) batch(no observe.InstanceNo, worker bool, words []string) (rows []*model.Row) {
	if len(words) > 0 && isMessage(strings.Split(words[0], ",")[0]) {
		for _, m := range r.messages(words[0]) {
			rows = append(rows, r.M.Model.Row(m))
		}
		return rows
	}
	queue := r.M.Model.Instance(no).Queue
	if worker {
		queue = r.M.Model.Instance(no).Work
	}
	return slices.DeleteFunc(slices.Clone(queue), func(row *model.Row) bool { return row.VisibleMs > r.w.Now })
}

// note records a node's decision. more has the cause in words, `delay=MS`, `panic=PLACE`, `attempt=N` and
// `dropped=INDEX:RULE,INDEX:RULE`.
func (r *Rig) note(name, decision string, more ...string) {
	words, value := options(more)
	h := r.holds(name, value)
	if value["attempt"] != "" {
		h.told = uint32(r.number(value["attempt"]))
	}
	n := machine.Note{Token: h.token, Instance: r.names[h.instance-1], ExecutionID: 1, AttemptCount: h.told, Cause: strings.Join(words, " ")}
	if value["delay"] != "" {
		n.Delay = time.Duration(r.number(value["delay"])) * time.Millisecond
	}
	n.Slot.Index = r.index
	if h.worker {
		n.Slot.Kind = machine.SlotWorker
	}
	for text := range strings.SplitSeq(value["dropped"], ",") {
		if index, rule, ok := strings.Cut(text, ":"); ok {
			n.Dropped = append(n.Dropped, machine.DroppedMessage{Index: int(r.number(index)), Rule: rule})
		}
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

// holds returns a node's last delivery, or that with a given token.
func (r *Rig) holds(name string, value map[string]string) *rigHeld {
	h := r.held[name]
	if value["token"] != "" {
		h = r.tokens[value["token"]]
	}
	if h == nil {
		r.t.Fatalf("line %q: there is no such delivery", r.line)
	}
	return h
}

func (r *Rig) commit(name string, f []string) {
	words, value := options(f)
	h, caller, status := r.holds(name, value), r.caller(name), ""
	if len(words) > 0 && !strings.ContainsAny(words[0], ":,") {
		status, words = words[0], words[1:]
	}
	if r.exact && !h.worker {
		value["status"] = status
		ack := r.ackOf(r.names[h.instance-1], h.token, words, value)
		h.written = &ack
	}
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: 1, HistoryDelta: []engine.Event{{EventID: 2, Data: eventdata.TimerCreated{}}}}
	if h.written != nil {
		ack = *h.written
	}
	if s := engine.Status(status); s.Terminal() && !r.exact {
		ack.Metadata.Status = s
	}
	kind, req := observe.CallAckOrchestrationItem, observe.CallRequest{Token: h.token, Ack: &ack}
	if h.worker {
		kind, req = observe.CallAckWorkItem, observe.CallRequest{Token: h.token}
	}
	r.begin(caller, kind, req)
	if status == "nothing" {
		r.end(caller, kind, observe.Observation{Instance: h.instance})
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
			r.Observe(observe.Observation{Kind: observe.StatusSet, Call: r.call, Instance: h.instance, Execution: ack.ExecutionID, Status: engine.Status(status), Name: value["output"]})
		}
		r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token})
	}
	r.end(caller, kind, observe.Observation{Instance: h.instance})
}

func (r *Rig) removeWork(of observe.InstanceNo, reason observe.RemoveReason) {
	for _, row := range slices.Clone(r.M.Model.Instance(of).Work) {
		r.remove(row.No, reason)
	}
}

func (r *Rig) remove(no observe.MessageNo, reason observe.RemoveReason) {
	row := r.M.Model.Row(no)
	r.Observe(observe.Observation{Kind: observe.RowRemoved, Call: r.call, Queue: row.Queue, Message: no, Instance: row.Instance.No, Reason: reason})
}

func (r *Rig) abandon(name string, f []string) {
	words, value := options(f)
	h, caller, delay, ignore := r.holds(name, value), r.caller(name), int64(-1), slices.Contains(words, "ignore")
	if len(words) > 0 && words[0] != "ignore" {
		delay = r.number(words[0])
	}
	kind, queue := observe.CallAbandonOrchestrationItem, observe.QueueOrchestrator
	if h.worker {
		kind, queue = observe.CallAbandonWorkItem, observe.QueueWorker
	}
	r.begin(caller, kind, observe.CallRequest{Token: h.token, Delay: time.Duration(max(delay, 0)) * time.Millisecond, IgnoreAttempt: ignore})
	for _, no := range h.rows {
		if count := r.M.Model.Row(no).Count; ignore {
			r.Observe(observe.Observation{Kind: observe.CountChanged, Call: r.call, Queue: queue, Message: no, Instance: h.instance, OldCount: count, NewCount: count - 1})
		}
		if h.worker {
			r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: queue, Message: no, Instance: h.instance, Token: h.token})
		}
		if delay >= 0 {
			r.Observe(observe.Observation{Kind: observe.RowDelayed, Call: r.call, Queue: queue, Message: no, Instance: h.instance, UntilMs: r.w.Now + delay})
		}
	}
	if !h.worker {
		r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: queue, Instance: h.instance, Token: h.token})
	}
	r.end(caller, kind, observe.Observation{Instance: h.instance})
}
