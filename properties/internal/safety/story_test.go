package safety

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
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/wording"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// A story is a sequence of observations and records for a monitor, one per line. Lines between the start and the end of
// a call belong to that call; lines outside calls describe the initial state. Messages are written as m1, m2 and so on,
// executions as instance/execution, events as id:Kind or id:Kind<source, and activities and completions as
// execution/event. "undo" before a line means that the change undoes another one.
//
//	t=1000                                        the time is now 1 s after the start
//	node A 1.5.0                                  node A starts that build, with the build's own range
//	A: fetch 1.0.0..1.5.0                         a call begins: fetch, fetch-work, ack, ack-work, abandon, abandon-work,
//	                                              renew, renew-work, enqueue, admin; "client" is nobody's node
//	end ok order-1 o1 m1,m2 count=1 events=3      it ends: ok, nothing, retryable, permanent
//	note A order-1 o1 turn dropped=0:rule         what the node decided
//
// The other lines are in the switch of tell.
type story struct {
	t       testing.TB
	w       *rig.FakeWorld
	m       *check.Monitor
	numbers map[string]observe.InstanceNo
	owner   map[observe.MessageNo]observe.InstanceNo
	queue   map[observe.MessageNo]observe.Queue
	calls   uint64
	call    observe.Observation // fields of the current call; its Call is 0 outside calls
	line    string
}

const storyStartMs = rig.StartMs

// The numbers of calls and incarnations do not begin with 1, so that no number of a story is also another one's: a
// checker that reads the wrong field then says something else.
const (
	firstCall        = 1001
	firstIncarnation = 7
	clientsNumber    = 5 // the incarnation of clients, which have none in runs
)

// tellStory runs a complete story with a new monitor for the safety properties.
func tellStory(t testing.TB, text string) *check.Monitor {
	w := &rig.FakeWorld{Now: storyStartMs, ThePlan: *storyPlan(t, text), AllBuilds: storyBuilds(t, text), RealStore: memprovider.New(memprovider.Options{})}
	s := &story{
		t: t, w: w, m: newSafety(w, IDs()...), numbers: map[string]observe.InstanceNo{}, calls: firstCall - 1,
		owner: map[observe.MessageNo]observe.InstanceNo{}, queue: map[observe.MessageNo]observe.Queue{},
	}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "plan ") {
			continue
		}
		s.line = line
		w.Steps++
		s.tell(strings.Fields(line))
	}
	s.m.Finish()
	return s.m
}

func (s *story) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("story line %q: %s", s.line, fmt.Sprintf(format, args...))
}

// tell turns one line into an observation or a record.
func (s *story) tell(f []string) {
	o := observe.Observation{Call: s.call.Call}
	if f[0] == "undo" {
		o.Undo, f = true, f[1:]
	}
	arg := func(i int) string {
		if i >= len(f) {
			s.fail("argument %d is missing", i)
		}
		return f[i]
	}
	switch {
	case strings.HasPrefix(f[0], "t="):
		s.w.Now = storyStartMs + s.number(f[0][2:])
		return
	case f[0] == "node":
		s.startNode(arg(1), arg(2), f[3:])
		return
	case f[0] == "note":
		s.note(f)
		return
	case strings.HasSuffix(f[0], ":"):
		s.begin(strings.TrimSuffix(f[0], ":"), arg(1), f[2:])
		return
	case f[0] == "end":
		s.end(f[1:])
		return
	}
	o.AtMs = s.w.Now
	switch f[0] {
	case "create": // `INSTANCE NAME@VERSION EXECUTION`
		o.Kind, o.Instance = observe.InstanceCreated, s.instance(arg(1))
		o.Name, o.Token, _ = strings.Cut(arg(2), "@")
		o.Execution = uint64(s.number(arg(3)))
	case "execution": // INSTANCE/EXECUTION
		o.Kind, o.Status = observe.ExecutionCreated, engine.StatusRunning
		o.Instance, o.Execution = s.execution(arg(1))
	case "status": // `INSTANCE/EXECUTION STATUS [OUTPUT]`
		o.Kind, o.Status, o.Name = observe.StatusSet, engine.Status(arg(2)), strings.Join(f[3:], " ")
		o.Instance, o.Execution = s.execution(arg(1))
	case "pin": // `INSTANCE/EXECUTION VERSION|none`
		o.Kind, o.Pin = observe.PinSet, version(arg(2))
		o.Instance, o.Execution = s.execution(arg(1))
	case "pointer": // INSTANCE/EXECUTION
		o.Kind = observe.PointerSet
		o.Instance, o.Execution = s.execution(arg(1))
	case "append": // INSTANCE/EXECUTION EVENT
		o.Kind = observe.EventAppended
		o.Instance, o.Execution = s.execution(arg(1))
		if id, kind, _ := strings.Cut(arg(2), ":"); kind == "Beyond" { // a kind that no build has
			o.EventID, o.Bytes = uint64(s.number(id)), []byte(`{"event_id":`+id+`,"type":"Beyond"}`)
			break
		}
		e := s.event(arg(2))
		o.EventID, o.Bytes = e.EventID, s.encode(e)
	case "erase": // INSTANCE/EXECUTION ID
		o.Kind, o.EventID = observe.EventRemoved, uint64(s.number(arg(2)))
		o.Instance, o.Execution = s.execution(arg(1))
	case "damage": // `INSTANCE/EXECUTION ID [readable|foreign]`, or MESSAGE
		o.Kind, o.Bytes = observe.Damaged, []byte("{")
		if f[len(f)-1] == "readable" {
			o.Bytes = s.encode(s.event("2:ActivityScheduled"))
		}
		if isMessageName(arg(1)) {
			s.message(&o, arg(1))
			break
		}
		o.EventID = uint64(s.number(arg(2)))
		o.Instance, o.Execution = s.execution(arg(1))
	case "decode": // `INSTANCE/EXECUTION ID ok|bad`
		o.Kind, o.EventID, o.Outcome = observe.EventDecoded, uint64(s.number(arg(2))), decodeOutcome(arg(3))
		o.Instance, o.Execution = s.execution(arg(1))
	case "insert": // `INSTANCE MESSAGE KIND [EXECUTION/EVENT] [visible=MS] [fire=MS]`
		s.insert(&o, f)
	case "remove": // MESSAGE REASON
		o.Kind, o.Reason = observe.RowRemoved, reasons[arg(2)]
		s.message(&o, arg(1))
	case "restore": // MESSAGE
		o.Kind = observe.RowRestored
		s.message(&o, arg(1))
	case "uncreate": // INSTANCE
		o.Kind, o.Instance = observe.InstanceRemoved, s.instance(arg(1))
	case "unexecution": // INSTANCE/EXECUTION
		o.Kind = observe.ExecutionRemoved
		o.Instance, o.Execution = s.execution(arg(1))
	case "session": // `ID OWNER UNTIL ACTIVITY`
		o.Kind, o.Name, o.Token = observe.SessionSet, arg(1), arg(2)
		o.UntilMs, o.ActivityMs = storyStartMs+s.number(arg(3)), storyStartMs+s.number(arg(4))
	case "delay": // MESSAGE MS
		o.Kind, o.UntilMs = observe.RowDelayed, storyStartMs+s.number(arg(2))
		s.message(&o, arg(1))
	case "mark": // MESSAGE TOKEN
		o.Kind, o.Token = observe.MessageMarked, arg(2)
		s.message(&o, arg(1))
	case "count": // MESSAGE OLD->NEW
		before, now, _ := strings.Cut(arg(2), "->")
		o.Kind, o.OldCount, o.NewCount = observe.CountChanged, uint32(s.number(before)), uint32(s.number(now))
		s.message(&o, arg(1))
	case "lock", "extend", "unlock": // `INSTANCE|MESSAGE TOKEN END`
		o.Kind = map[string]observe.Kind{
			"lock": observe.LockTaken, "extend": observe.LockExtended, "unlock": observe.LockReleased,
		}[f[0]]
		o.Queue, o.Token = observe.QueueOrchestrator, arg(2)
		if isMessageName(arg(1)) {
			s.message(&o, arg(1))
		} else {
			o.Instance = s.instance(arg(1))
		}
		if f[0] != "unlock" {
			o.UntilMs = storyStartMs + s.number(arg(3))
		}
	default:
		if s.tellNode(f) || s.tellShort(f) {
			return
		}
		s.fail("unknown")
	}
	s.m.Observe(&o)
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

func decodeOutcome(text string) observe.Outcome {
	if text == "ok" {
		return observe.OutcomeOK
	}
	return observe.OutcomePermanent
}

func isMessageName(text string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(text, "m"))
	return strings.HasPrefix(text, "m") && err == nil
}

func (s *story) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		s.fail("%v", err)
	}
	return n
}

func version(text string) *engine.Version {
	if text == "none" {
		return nil
	}
	v := engine.MustParseVersion(text)
	return &v
}

// instance returns the number of the instance with the given name, announcing the instance if it is new.
func (s *story) instance(name string) observe.InstanceNo {
	if no, ok := s.numbers[name]; ok {
		return no
	}
	no := observe.InstanceNo(len(s.numbers) + 1)
	s.numbers[name] = no
	s.m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Call: s.call.Call, AtMs: s.w.Now, Instance: no, Name: name})
	return no
}

func (s *story) execution(text string) (observe.InstanceNo, uint64) {
	name, id, ok := strings.Cut(text, "/")
	if !ok {
		s.fail("%q is no execution", text)
	}
	return s.instance(name), uint64(s.number(id))
}

func (s *story) messageNo(text string) observe.MessageNo {
	return observe.MessageNo(s.number(strings.TrimPrefix(text, "m")))
}

func (s *story) message(o *observe.Observation, text string) {
	o.Message = s.messageNo(text)
	o.Instance, o.Queue = s.owner[o.Message], s.queue[o.Message]
}

// usual has what kinds of events and messages are in stories that do not say otherwise, in the words of package wording.
var usual = map[string]string{ // only used for lookups
	"OrchestrationStarted": "OrchestrationStarted,Name:Order,Version:1.0.0", "OrchestrationFailed": "OrchestrationFailed,Details:activity:no",
	"Poison":           "OrchestrationFailed,Details:poison:Orchestration/order-1",
	"PoisonOfActivity": "OrchestrationFailed,Details:poison:Activity/order-1",
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

// worded returns the words of `KIND` or `KIND(FIELD:VALUE+FIELD:VALUE)`.
func worded(text string) string {
	kind, fields, has := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	word := cmp.Or(usual[kind], kind)
	if has {
		word += "," + strings.ReplaceAll(fields, "+", ",")
	}
	return word
}

// event parses `ID:KIND` or `ID:KIND<SOURCE`.
func (s *story) event(text string) engine.Event {
	id, rest, _ := strings.Cut(text, ":")
	kind, source, completes := strings.Cut(rest, "<")
	var front []string
	if completes {
		front = []string{"of=" + source}
	}
	e := wording.EventOf(s.t, int(s.number(id)), worded(kind), front...)
	e.InstanceID, e.ExecutionID, e.DuroxideVersion, e.TimestampMs = "order-1", 1, "1.5.0", 0
	return e
}

func (s *story) encode(e engine.Event) []byte {
	for _, b := range s.w.AllBuilds {
		if data, err := b.Codec.AppendEvent(nil, e); err == nil {
			return data
		}
	}
	s.fail("no build writes %s", e.Kind())
	return nil
}

// item returns an item of the given kind. If the kind needs a schedule, the schedule is written as `EXECUTION/EVENT`.
func (s *story) item(instance, kind, schedule string, fireMs int64) engine.WorkItem {
	of := ""
	if strings.HasPrefix(kind, "SubOrch") {
		of = "Parent"
	}
	front := []string{of + "Instance=" + instance}
	if x, e, ok := strings.Cut(schedule, "/"); ok {
		front = append(front, of+"ExecutionID="+x, of+"ID="+e)
	}
	word := worded(kind)
	if kind == string(engine.ItemTimerFired) {
		word = fmt.Sprint("TimerFired,FireAtMs:", storyStartMs+fireMs)
	}
	return wording.ItemOf(s.t, word, front...)
}

// options returns a line's plain words and its `KEY=VALUE` words.
func options(f []string) (words []string, value map[string]string) {
	value = map[string]string{}
	for _, w := range f {
		if k, v, ok := strings.Cut(w, "="); ok {
			value[k] = v
		} else {
			words = append(words, w)
		}
	}
	return words, value
}

func (s *story) insert(o *observe.Observation, f []string) {
	f, value := options(f)
	if len(f) < 4 {
		s.fail("expected insert INSTANCE MESSAGE KIND")
	}
	schedule, fire := "", int64(0)
	if len(f) > 4 {
		schedule = f[4]
	}
	if value["fire"] != "" {
		fire = s.number(value["fire"])
	}
	o.Kind, o.Instance, o.Message, o.UntilMs, o.Queue = observe.RowInserted, s.instance(f[1]), s.messageNo(f[2]), s.w.Now, observe.QueueOrchestrator
	if value["visible"] != "" {
		o.UntilMs = storyStartMs + s.number(value["visible"])
	}
	o.Item = s.item(f[1], f[3], schedule, fire)
	if a, ok := o.Item.(engine.ActivityExecuteItem); ok {
		a.SessionID, a.Tag = value["session"], value["tag"]
		o.Item = a
		o.Queue, o.Execution, o.EventID = observe.QueueWorker, a.ExecutionID, a.ID
	}
	newest := s.w.AllBuilds[len(s.w.AllBuilds)-1].Codec
	o.Bytes, _ = newest.AppendWorkItem(nil, o.Item)
	s.owner[o.Message], s.queue[o.Message] = o.Instance, o.Queue
}

func (s *story) startNode(name, build string, f []string) {
	var b *engine.Build
	for _, have := range s.w.AllBuilds {
		if have.Name() == build {
			b = have
		}
	}
	if b == nil {
		s.fail("no build %s", build)
	}
	filter := engine.FilterFor(b.DefaultRange)
	if len(f) > 0 {
		filter = s.filter(f)
	}
	for i := range s.w.Infos {
		if n := &s.w.Infos[i]; n.Name == name {
			n.Incarnation++
			n.Build, n.Filter = b, filter
			s.m.Record(&cluster.Record{Kind: record.NodeStarted, Node: n.Number, Incarnation: n.Incarnation})
			return
		}
	}
	no := uint32(len(s.w.Infos) + 1)
	s.w.Infos = append(s.w.Infos, cluster.NodeInfo{Number: no, Name: name, Incarnation: firstIncarnation, Build: b, Filter: filter, Up: true, Options: node.DefaultOptions()})
	s.m.Record(&cluster.Record{Kind: record.NodeStarted, Node: no, Incarnation: firstIncarnation})
}

// filter parses "any" (no filter), "none" (the empty filter), or ranges of the form `MIN..MAX`.
func (s *story) filter(f []string) *engine.CapabilityFilter {
	if f[0] == "any" {
		return nil
	}
	out := &engine.CapabilityFilter{}
	for _, r := range f {
		if r == "none" {
			continue
		}
		lo, hi, ok := strings.Cut(r, "..")
		if !ok {
			s.fail("range %q", r)
		}
		out.SupportedVersions = append(out.SupportedVersions, engine.VersionRange{Min: engine.MustParseVersion(lo), Max: engine.MustParseVersion(hi)})
	}
	return out
}

func (s *story) caller(name string) observe.Caller {
	switch name {
	case "client":
		return observe.Caller{Incarnation: clientsNumber}
	case "stranger": // no node of the run
		return observe.Caller{Node: 9, Incarnation: 1}
	case "letters": // under the dead-letter policy
		return observe.Caller{Incarnation: deadletter.Caller}
	}
	for i := range s.w.Infos {
		if s.w.Infos[i].Name == name {
			return observe.Caller{Node: s.w.Infos[i].Number, Incarnation: s.w.Infos[i].Incarnation}
		}
	}
	s.fail("no node %s", name)
	return observe.Caller{}
}

// begin starts a call. An ack has `TOKEN EXECUTION delta=EVENTS pin= status= output= name=NAME@VERSION work=SCHEDULES
// send=KINDS cancel=SCHEDULES`. An abandon has `TOKEN [ignore] [delay=MS]`.
func (s *story) begin(who, kind string, f []string) {
	words, value := options(f)
	s.calls++
	r := &observe.CallRequest{LockTimeout: 5 * time.Second}
	o := observe.Observation{Kind: observe.CallBegin, Call: s.calls, CallKind: callKinds[kind], Caller: s.caller(who), Request: r}
	if o.CallKind == observe.CallNone {
		s.fail("no call %q", kind)
	}
	if value["delay"] != "" {
		r.Delay = time.Duration(s.number(value["delay"])) * time.Millisecond
	}
	if value["lock"] != "" {
		r.LockTimeout = time.Duration(s.number(value["lock"])) * time.Millisecond
	}
	switch kind {
	case "fetch":
		r.Filter = s.nodesFilter(o.Caller)
		if len(words) > 0 {
			r.Filter = s.filter(words)
		}
	case "ack":
		r.Token, r.Ack = words[0], s.ack(words, value)
	case "fetch-work":
		if value["session"] != "" {
			r.Session = &engine.SessionFetchConfig{OwnerID: value["session"], LockTimeout: 10 * time.Second}
			if value["session-lock"] != "" {
				r.Session.LockTimeout = time.Duration(s.number(value["session-lock"])) * time.Millisecond
			}
		}
		r.Tags = tagFilter(value["tag"])
	case "renew-sessions": // OWNER
		r.Owners, r.LockTimeout, r.IdleTimeout = words, 10*time.Second, 20*time.Second
	case "admin": // `[METHOD INSTANCE] [forced]`
		if len(words) > 1 {
			r.Admin, r.Instance, r.Force = words[0], words[1], len(words) > 2
		}
	default:
		r.Token = words[0]
		r.IgnoreAttempt = len(words) > 1 && words[1] == "ignore"
		if kind == "ack-work" && len(words) > 1 {
			r.Item = s.item("order-1", words[1], words[2], 0)
		}
	}
	o.AtMs = s.w.Now
	s.call = o
	s.m.Observe(&o)
}

func (s *story) nodesFilter(c observe.Caller) *engine.CapabilityFilter {
	if c.Node == 0 || int(c.Node) > len(s.w.Infos) {
		return nil
	}
	return s.w.Infos[c.Node-1].Filter
}

func (s *story) ack(words []string, value map[string]string) *engine.OrchestrationAck {
	a := &engine.OrchestrationAck{LockToken: words[0], ExecutionID: uint64(s.number(words[1]))}
	list := func(key string) []string {
		if value[key] == "" {
			return nil
		}
		return strings.Split(value[key], ",")
	}
	for _, e := range list("delta") {
		a.HistoryDelta = append(a.HistoryDelta, s.event(e))
	}
	for _, w := range list("work") {
		kind, schedule := "ActivityExecute", w
		if !strings.Contains(w, "/") {
			kind, schedule = w, ""
		}
		a.WorkerItems = append(a.WorkerItems, s.item("order-1", kind, schedule, 0))
	}
	for _, w := range list("send") {
		a.OrchestratorItems = append(a.OrchestratorItems, s.item("order-1", w, "", 0))
	}
	for _, c := range list("cancel") {
		w := s.item("order-1", "ActivityExecute", c, 0).(engine.ActivityExecuteItem)
		a.CancelledActivities = append(a.CancelledActivities, engine.ScheduledActivityIdentifier{Instance: w.Instance, ExecutionID: w.ExecutionID, ActivityID: w.ID})
	}
	m := &a.Metadata
	m.Status = engine.Status(value["status"])
	m.OrchestrationName, m.OrchestrationVersion, _ = strings.Cut(value["name"], "@")
	if value["pin"] != "" {
		m.PinnedVersion = version(value["pin"])
	}
	if value["output"] != "" {
		output := strings.ReplaceAll(value["output"], "_", " ")
		m.Output = &output
	}
	return a
}

// end ends the call. It parses `OUTCOME [INSTANCE] [TOKEN MESSAGES] [count=N] [events=N] [history_error] [turn=yes]`.
// With turn=yes, the delivery has its history and its messages, so that S24 can judge the turn.
func (s *story) end(f []string) {
	words, value := options(f)
	o := observe.Observation{
		Kind: observe.CallEnd, Call: s.call.Call, CallKind: s.call.CallKind, Caller: s.call.Caller, AtMs: s.w.Now,
		Outcome: outcomes[words[0]],
	}
	var item engine.OrchestrationItem
	for _, w := range words[1:] {
		no, known := s.numbers[w]
		switch {
		case known:
			o.Instance = no
		case w == "history_error":
			item.HistoryError = "event 2: unknown kind"
		case isMessageName(strings.Split(w, ",")[0]):
			for _, m := range strings.Split(w, ",") {
				o.Messages = append(o.Messages, s.messageNo(m))
			}
		default:
			o.Token = w
		}
	}
	if value["value"] != "" {
		text := value["value"]
		o.Value = &text
	}
	if value["version"] != "" {
		o.Version = uint64(s.number(value["version"]))
	}
	if value["turn"] != "" {
		s.delivery(&item, o.Instance, o.Messages)
	}
	if key, text, ok := strings.Cut(value["snapshot"], ":"); ok {
		item.KVSnapshot = []engine.KVEntry{{Key: key, Value: text}}
	}
	if value["count"] != "" {
		o.NewCount = uint32(s.number(value["count"]))
	}
	if len(o.Messages) > 0 {
		if value["events"] != "" && item.History == nil {
			item.History = make([]engine.Event, s.number(value["events"]))
		}
		if o.CallKind == observe.CallFetchOrchestrationItem {
			o.Fetched = &engine.FetchedOrchestration{Item: item, LockToken: o.Token, AttemptCount: o.NewCount}
		} else {
			o.Work = &engine.FetchedWork{LockToken: o.Token, AttemptCount: o.NewCount}
		}
	}
	if o.Outcome == observe.OutcomeRetryable || o.Outcome == observe.OutcomePermanent {
		o.Err = &engine.ProviderError{Operation: "op", Message: "refused", Retryable: o.Outcome == observe.OutcomeRetryable}
	}
	s.m.Observe(&o)
	s.call = observe.Observation{}
}

// note parses `NODE INSTANCE TOKEN DECISION [dropped=INDEX:RULE,...] [attempt=N]`.
func (s *story) note(f []string) {
	words, value := options(f)
	n := &machine.Note{Slot: machine.Slot{Kind: machine.SlotOrchestration}, Instance: words[2], Token: words[3]}
	for d := machine.DecideNone; d <= machine.DecideSwept; d++ {
		if d.String() == words[4] {
			n.Decision = d
		}
	}
	if value["attempt"] != "" {
		n.AttemptCount = uint32(s.number(value["attempt"]))
	}
	for _, d := range strings.Split(value["dropped"], ",") {
		if index, rule, ok := strings.Cut(d, ":"); ok {
			n.Dropped = append(n.Dropped, machine.DroppedMessage{Index: int(s.number(index)), Rule: rule})
		}
	}
	c := s.caller(words[1])
	s.m.Record(&cluster.Record{Kind: record.Note, Node: c.Node, Incarnation: c.Incarnation, Note: n})
}

// newSafety returns a monitor for the given safety properties.
func newSafety(w check.View, ids ...string) *check.Monitor {
	m := check.New(w, func(id string) bool { return id == OwnTurns || slices.Contains(ids, id) })
	m.Add(Checks(m.Run)...)
	return m
}
