package monitor_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/wording"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// This file implements the lines with which a story says what no right store does: observations and calls, one by one.
// Messages are m1, m2 and so on, executions x/2, and x alone is x/1. Lines between the start and the end of a call belong
// to that call. "undo" before a line means that the change undoes another one.
//
//	A: fetch 1.0.0..1.5.0          a call begins: fetch, fetch-work, ack, ack-work, abandon, abandon-work, renew, renew-work,
//	                               enqueue, admin; "client" is nobody's node
//	end ok x o1 m1,m2 count=1 events=3   it ends: ok, nothing, retryable, permanent
//
// The others are in the switch of rawly.

// exactly returns a rig for a story of single observations: fetches deliver histories and messages, events and messages
// have usual fields, acks have the events that the story tells, and nodes are numbered as they start. The numbers of calls
// and incarnations do not begin with 1, so that no number of a story is also another one's: a checker that reads the wrong
// field then says something else.
func exactly(t testing.TB, p plan.Plan, o monitor.Options, builds []*engine.Build, story string) *Rig {
	const firstCall, firstIncarnation = 1001, 7
	var nodes []string
	for line := range strings.Lines(story) {
		f := strings.Fields(line)
		if i := slices.Index(f, "up"); i >= 0 && i < 2 && !slices.Contains(nodes, f[i+1]) {
			nodes = append(nodes, f[i+1])
		}
	}
	r := newOf(t, p, o, builds, nodes)
	r.exact, r.call = true, firstCall-1
	for i := range r.w.Infos {
		r.w.Infos[i].Incarnation = firstIncarnation - 1
	}
	return r
}

var reasons = map[string]observe.RemoveReason{
	"acked": observe.RemovedAcked, "cancelled": observe.RemovedCancelled, "orphan": observe.RemovedOrphan,
	"deleted": observe.RemovedDeleted, "undone": observe.RemovedUndone, "none": observe.RemovedNone,
}

var outcomes = map[string]observe.Outcome{
	"ok": observe.OutcomeOK, "nothing": observe.OutcomeNothing, "retryable": observe.OutcomeRetryable, "permanent": observe.OutcomePermanent,
}

var callKinds = map[string]observe.CallKind{
	"fetch": observe.CallFetchOrchestrationItem, "ack": observe.CallAckOrchestrationItem, "abandon": observe.CallAbandonOrchestrationItem,
	"renew": observe.CallRenewOrchestrationItemLock, "fetch-work": observe.CallFetchWorkItem, "ack-work": observe.CallAckWorkItem,
	"abandon-work": observe.CallAbandonWorkItem, "renew-work": observe.CallRenewWorkItemLock,
	"enqueue": observe.CallEnqueueForOrchestrator, "enqueue-work": observe.CallEnqueueForWorker, "admin": observe.CallAdmin, "renew-sessions": observe.CallRenewSessionLock,
	"cleanup-sessions": observe.CallCleanupOrphanedSessions, "kv-value": observe.CallGetKVValue, "get-status": observe.CallGetCustomStatus,
}

// rawly executes a line of this file, or reports that it is none.
func (r *Rig) rawly(verb string, f []string) bool {
	o := observe.Observation{Call: r.open.Call}
	if verb == "undo" {
		o.Undo, verb, f = true, f[0], f[1:]
	}
	if !r.exact && slices.Contains([]string{"count", "delay", "lock", "extend"}, verb) { // in the last call
		o.Call = r.call
	}
	words, value := options(f)
	arg := func(i int) string {
		if i >= len(words) {
			r.t.Fatalf("line %q: a word is missing", r.line)
		}
		return words[i]
	}
	at := func() { o.Instance, o.Execution = r.execution(arg(0)) }
	if name, ok := strings.CutSuffix(verb, ":"); ok {
		r.begins(name, words, value)
		return true
	}
	switch verb {
	case "end":
		r.ends(words, value)
		return true
	case "runs", "ran": // `NODE INSTANCE EXECUTION/EVENT [SESSION]`: a node runs that activity, or has run it
		item := r.itemOf(arg(1), "ActivityExecute", arg(2)).(engine.ActivityExecuteItem)
		item.SessionID = append(words, "")[3]
		r.ofNode(arg(0), cluster.Record{Kind: map[string]record.Kind{"runs": record.ActivityStarted, "ran": record.ActivityFinished}[verb], Slot: machine.Slot{Index: int(item.ID)}, Activity: &machine.RunActivity{Item: item}})
		return true
	case "gives", "keeps": // `NODE SLOT`: a node gives the activity in that slot back, or renews its lock
		kind := map[string]observe.CallKind{"gives": observe.CallAbandonWorkItem, "keeps": observe.CallRenewWorkItemLock}[verb]
		r.ofNode(arg(0), cluster.Record{Kind: record.CallSent, CallKind: kind, Slot: machine.Slot{Index: int(r.number(arg(1)))}})
	case "grace": // `NODE SLOT`: the activity in that slot has lost its lock
		slot := machine.Slot{Index: int(r.number(arg(1)))}
		r.ofNode(arg(0), cluster.Record{Kind: record.Note, Note: &machine.Note{Slot: slot, Decision: machine.DecideWorkLost}})
		return true
	case "option": // `NODE clock=MS` or options, as in docs/contract/runtime.md
		info := r.w.Node(r.node(arg(0)))
		for name, text := range value {
			if name == "clock" {
				info.Clock.Offset = time.Duration(r.number(text)) * time.Millisecond
			} else if err := info.Options.Set(name, text); err != nil {
				r.t.Fatal(err)
			}
		}
		return true
	case "create": // `INSTANCE NAME@VERSION EXECUTION`
		o.Kind, o.Instance, o.Execution = observe.InstanceCreated, r.Instance(arg(0)), uint64(r.number(arg(2)))
		o.Name, o.Token, _ = strings.Cut(arg(1), "@")
	case "execution", "pruned": // INSTANCE/EXECUTION
		o.Kind, o.Status = observe.ExecutionCreated, engine.StatusRunning
		if verb == "pruned" {
			o.Kind, o.Status = observe.ExecutionRemoved, ""
		}
		at()
	case "status": // `INSTANCE/EXECUTION STATUS [OUTPUT]`
		o.Kind, o.Status, o.Name = observe.StatusSet, engine.Status(arg(1)), strings.Join(words[2:], " ")
		at()
	case "pin": // `INSTANCE/EXECUTION VERSION|none`
		o.Kind, o.Pin = observe.PinSet, version(arg(1))
		at()
	case "pointer": // INSTANCE/EXECUTION
		o.Kind = observe.PointerSet
		at()
	case "event": // `INSTANCE/EXECUTION EVENT`, as in rigwritten_test.go
		o.Kind = observe.EventAppended
		at()
		e := r.event(r.names[o.Instance-1], arg(1))
		e.ExecutionID = o.Execution
		o.EventID, o.Bytes = e.EventID, r.encode(e)
	case "erase": // `INSTANCE/EXECUTION ID`
		o.Kind, o.EventID = observe.EventRemoved, uint64(r.number(arg(1)))
		at()
	case "damage": // MESSAGE, or `INSTANCE/EXECUTION [ID] [readable]`
		o.Kind, o.Bytes = observe.Damaged, []byte("?")
		if words[len(words)-1] == "readable" {
			o.Bytes = r.encode(r.event("x", "2:ActivityScheduled"))
		}
		if isMessage(arg(0)) {
			r.of(&o, arg(0))
			break
		}
		o.EventID = 1
		if len(words) > 1 {
			o.EventID = uint64(r.number(words[1]))
		}
		at()
	case "decode": // `INSTANCE/EXECUTION ID ok|bad`
		o.Kind, o.EventID, o.Outcome = observe.EventDecoded, uint64(r.number(arg(1))), observe.OutcomePermanent
		if arg(2) == "ok" {
			o.Outcome = observe.OutcomeOK
		}
		at()
	case "insert": // `INSTANCE MESSAGE [EXECUTION/EVENT] [visible=MS] [session=ID] [tag=TAG] [as=m7]`
		item, visible := r.itemOf(arg(0), arg(1), append(words, "")[2]), r.w.Now
		if a, ok := item.(engine.ActivityExecuteItem); ok {
			a.SessionID, a.Tag = value["session"], value["tag"]
			item = a
		}
		if value["visible"] != "" {
			visible = rig.StartMs + r.number(value["visible"])
		}
		if value["as"] != "" {
			r.rows = int(r.message(value["as"])) - 1
		}
		r.insert(o.Call, item, visible)
		return true
	case "remove", "restore": // `MESSAGE [REASON]`
		o.Kind = observe.RowRestored
		if verb == "remove" {
			o.Kind, o.Reason = observe.RowRemoved, reasons[arg(1)]
		}
		r.of(&o, arg(0))
	case "uncreate": // INSTANCE
		o.Kind, o.Instance = observe.InstanceRemoved, r.Instance(arg(0))
	case "session": // `ID OWNER UNTIL ACTIVITY`
		o.Kind, o.Name, o.Token = observe.SessionSet, arg(0), arg(1)
		o.UntilMs, o.ActivityMs = rig.StartMs+r.number(arg(2)), rig.StartMs+r.number(arg(3))
	case "delay": // `MESSAGE MS`
		o.Kind, o.UntilMs = observe.RowDelayed, rig.StartMs+r.number(arg(1))
		r.of(&o, arg(0))
	case "marks": // `MESSAGE TOKEN`
		o.Kind, o.Token = observe.MessageMarked, arg(1)
		r.of(&o, arg(0))
	case "count": // `MESSAGE OLD->NEW`, or ->NEW from what it is
		before, now, _ := strings.Cut(arg(1), "->")
		before = cmp.Or(before, fmt.Sprint(r.M.Model.Row(r.message(arg(0))).Count))
		o.Kind, o.OldCount, o.NewCount = observe.CountChanged, uint32(r.number(before)), uint32(r.number(now))
		r.of(&o, arg(0))
	case "lock", "extend", "unlock": // `INSTANCE|MESSAGE TOKEN [END]`
		o.Kind = map[string]observe.Kind{
			"lock": observe.LockTaken, "extend": observe.LockExtended, "unlock": observe.LockReleased,
		}[verb]
		o.Queue, o.Token = observe.QueueOrchestrator, arg(1)
		if isMessage(arg(0)) {
			r.of(&o, arg(0))
		} else {
			o.Instance = r.Instance(arg(0))
		}
		if verb != "unlock" {
			o.UntilMs = rig.StartMs + r.number(arg(2))
		}
	default:
		return false
	}
	r.Observe(o)
	return true
}

func (r *Rig) ofNode(name string, rec cluster.Record) {
	c := r.caller(name)
	rec.Node, rec.Incarnation = c.Node, c.Incarnation
	r.Record(rec)
}

func isMessage(text string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(text, "m"))
	return strings.HasPrefix(text, "m") && err == nil
}

func (r *Rig) message(text string) observe.MessageNo {
	return observe.MessageNo(r.number(strings.TrimPrefix(text, "m")))
}

func (r *Rig) messages(text string) (list []observe.MessageNo) {
	for m := range strings.SplitSeq(text, ",") {
		list = append(list, r.message(m))
	}
	return list
}

func (r *Rig) of(o *observe.Observation, text string) {
	o.Message = r.message(text)
	row := r.M.Model.Row(o.Message)
	o.Queue, o.Instance = row.Queue, row.Instance.No
}

// execution parses an instance's execution, x/2, or x for the first.
func (r *Rig) execution(text string) (observe.InstanceNo, uint64) {
	name, id, ok := strings.Cut(text, "/")
	if !ok {
		id = "1"
	}
	return r.Instance(name), uint64(r.number(id))
}

func version(text string) *engine.Version {
	if text == "none" {
		return nil
	}
	v := engine.MustParseVersion(text)
	return &v
}

// filter parses "any" (no filter), "none" (the empty filter), or ranges `MIN..MAX,MIN..MAX`. Without a text, it is the
// node's.
func (r *Rig) filter(c observe.Caller, text string) *engine.CapabilityFilter {
	switch {
	case text == "" && c.Node > 0 && int(c.Node) <= len(r.w.Infos):
		return r.w.Node(c.Node).Filter
	case text == "" || text == "any":
		return nil
	}
	out := &engine.CapabilityFilter{}
	for text := range strings.SplitSeq(text, ",") {
		if lo, hi, ok := strings.Cut(text, ".."); ok {
			out.SupportedVersions = append(out.SupportedVersions, engine.VersionRange{Min: engine.MustParseVersion(lo), Max: engine.MustParseVersion(hi)})
		}
	}
	return out
}

// usual has what kinds of events and messages are in exact stories that do not say otherwise, in the words of package
// wording.
var usual = map[string]string{ // only used for lookups
	"OrchestrationStarted": "OrchestrationStarted,Name:Order,Version:1.0.0", "OrchestrationFailed": "OrchestrationFailed,Details:activity:no",
	"Poison":           "OrchestrationFailed,Details:poison:Orchestration/x",
	"PoisonOfActivity": "OrchestrationFailed,Details:poison:Activity/x",
	"Cancelled":        "OrchestrationFailed,Details:cancelled:", "Nondeterministic": "OrchestrationFailed,Details:disagrees:the code went another way",
	"OrchestrationChained": "OrchestrationChained,Name:Order,Instance:message-1", "OrchestrationCancelRequested": "OrchestrationCancelRequested,Reason:enough",
	"ActivityScheduled": "ActivityScheduled,Name:Charge", "ActivityFailed": "ActivityFailed,Details:activity:no",
	"ActivityCancelRequested": "ActivityCancelRequested,Reason:dropped_future", "TimerCreated": "TimerCreated,FireAtMs:1", "TimerFired": "TimerFired,FireAtMs:1",
	"SubOrchestrationScheduled": "SubOrchestrationScheduled,Name:Order,Instance:child-1", "SubOrchestrationFailed": "SubOrchestrationFailed,Details:failed:",
	"ExternalEvent": "ExternalEvent,Name:go", "ExternalEvent2": "ExternalEvent2,Name:go", "QueueSubscribed": "QueueSubscribed,Name:q",
	"QueueSubscriptionCancelled": "QueueSubscriptionCancelled,Reason:dropped_future", "QueueEventDelivered": "QueueEventDelivered,Name:q",
	"KeyValueSet": "KeyValueSet,Key:k,Value:v", "KeyValueCleared": "KeyValueCleared,Key:k", "CustomStatusUpdated": "CustomStatusUpdated,Status:half",

	"StartOrchestration": "Start,Orchestration:Order,ExecutionID:1", "ContinueAsNew": "ContinueAsNew,Orchestration:Order",
	"ActivityExecute": "ActivityExecute,Name:Charge", "ExternalRaised": "ExternalRaised,Name:go", "QueueMessage": "QueueMessage,Name:q",
}

// worded adds the usual fields to the words of an event or message.
func (r *Rig) worded(word string) string {
	kind, fields, has := strings.Cut(word, ",")
	if !r.exact || usual[kind] == "" {
		return word
	}
	if has {
		return usual[kind] + "," + fields
	}
	return usual[kind]
}

// itemOf returns an instance's message. If its kind needs a schedule, that is `EXECUTION/EVENT`.
func (r *Rig) itemOf(instance, word, schedule string) engine.WorkItem {
	of := ""
	if strings.HasPrefix(word, "SubOrch") {
		of = "Parent"
	}
	front := []string{of + "Instance=" + instance}
	if x, e, ok := strings.Cut(schedule, "/"); ok {
		front = append(front, of+"ExecutionID="+x, of+"ID="+e)
	}
	if word == "TimerFired" {
		word = fmt.Sprint("TimerFired,FireAtMs:", rig.StartMs)
	}
	return wording.ItemOf(r.t, r.worded(word), front...)
}

// begins starts a call. An ack has `TOKEN EVENTS and MESSAGES` and the options of ackOf, an abandon `TOKEN [ignore]
// [delay=MS]`.
func (r *Rig) begins(who string, words []string, value map[string]string) {
	kind, words := words[0], words[1:]
	caller, req := r.caller(who), observe.CallRequest{}
	if callKinds[kind] == observe.CallNone {
		r.t.Fatalf("line %q: no such call", r.line)
	}
	ms := func(key string, of *time.Duration) {
		if value[key] != "" {
			*of = time.Duration(r.number(value[key])) * time.Millisecond
		}
	}
	ms("delay", &req.Delay)
	ms("lock", &req.LockTimeout)
	switch kind {
	case "fetch":
		req.Filter = r.filter(caller, strings.Join(words, ","))
	case "ack":
		ack := r.ackOf("x", words[0], words[1:], value)
		req.Token, req.Ack = words[0], &ack
	case "fetch-work":
		if value["session"] != "" {
			req.Session = &engine.SessionFetchConfig{OwnerID: value["session"], LockTimeout: 10 * time.Second}
			ms("session-lock", &req.Session.LockTimeout)
		}
	case "renew-sessions": // OWNER
		req.Owners, req.LockTimeout, req.IdleTimeout = words, 10*time.Second, 20*time.Second
	case "admin": // `[METHOD INSTANCE] [forced]`
		if len(words) > 1 {
			req.Admin, req.Instance, req.Force = words[0], words[1], len(words) > 2
		}
	default:
		req.Token = words[0]
		req.IgnoreAttempt = len(words) > 1 && words[1] == "ignore"
	}
	r.begin(caller, callKinds[kind], req)
	r.open = observe.Observation{Call: r.call, CallKind: callKinds[kind], Caller: caller, Name: who}
}

// ends ends the call. It parses `OUTCOME [INSTANCE] [TOKEN MESSAGES] [count=N] [events=N] [error] [turn=yes]`.
func (r *Rig) ends(words []string, value map[string]string) {
	o := observe.Observation{Outcome: outcomes[words[0]]}
	for _, w := range words[1:] {
		switch {
		case slices.Contains(r.names, w):
			o.Instance = r.Instance(w)
		case w == "error":
		case isMessage(strings.Split(w, ",")[0]):
			o.Messages = r.messages(w)
		default:
			o.Token = w
		}
	}
	if value["count"] != "" {
		o.NewCount = uint32(r.number(value["count"]))
	}
	if len(o.Messages) > 0 {
		h := &rigHeld{instance: o.Instance, rows: o.Messages, token: o.Token, told: o.NewCount, worker: r.open.CallKind == observe.CallFetchWorkItem}
		r.held[r.open.Name], r.tokens[h.token] = h, h
		r.delivers(&o, r.open.CallKind, slices.Contains(words, "error"), value)
	}
	if o.Outcome == observe.OutcomeRetryable || o.Outcome == observe.OutcomePermanent {
		o.Err = &engine.ProviderError{Operation: "op", Message: "refused", Retryable: o.Outcome == observe.OutcomeRetryable}
	}
	r.end(r.open.Caller, r.open.CallKind, o)
	r.open = observe.Observation{}
}

// delivers fills in what a fetch of an exact story delivers: with turn=yes the history and the messages, so that S24 can
// judge the turn, else only the number of the events.
func (r *Rig) delivers(o *observe.Observation, kind observe.CallKind, unreadable bool, value map[string]string) {
	if kind == observe.CallFetchWorkItem {
		o.Work = &engine.FetchedWork{LockToken: o.Token, AttemptCount: o.NewCount}
		return
	}
	in := r.M.Model.Instance(o.Instance)
	item, ex := engine.OrchestrationItem{}, in.Execution(max(in.CurrentID, 1))
	if unreadable {
		item.HistoryError = "event 2: unknown kind"
	}
	switch {
	case value["turn"] != "":
		item.Instance, item.OrchestrationName, item.Version, item.ExecutionID = in.Name, "Order", "1.0.0", max(in.CurrentID, 1)
		for i := 0; ex != nil && i < len(ex.Events); i++ {
			item.History = append(item.History, r.M.Model.Decoded(&ex.Events[i]))
		}
		for _, m := range o.Messages {
			item.Messages = append(item.Messages, r.M.Model.Row(m).Item)
		}
	case value["events"] != "":
		item.History = make([]engine.Event, r.number(value["events"]))
	}
	o.Fetched = &engine.FetchedOrchestration{Item: item, LockToken: o.Token, AttemptCount: o.NewCount}
}

// clients has what stands for callers that are no nodes of the run.
var clients = map[string]observe.Caller{
	"client": {Incarnation: 5}, "stranger": {Node: 9, Incarnation: 1}, "letters": {Incarnation: deadletter.Caller},
}
