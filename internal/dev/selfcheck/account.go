package selfcheck

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// account compares each call's observations with the caller's request and answer. It shows whether the observations can
// be trusted.
type account struct {
	run              *run
	events, messages int  // how many events and messages the store says it decoded
	failed           int  // how many of them it could not
	ended            bool // whether the last call has ended
	number           uint64
	atMs             int64 // when the last call has ended
	kind             observe.CallKind
	caller           observe.Caller
	outcome          observe.Outcome
	request          observe.CallRequest     // the last request
	ack              engine.OrchestrationAck // a copy of the request's ack, because the store clears its own when the call ends
	told             map[observe.Kind]int    // of the call: how often it has told a kind of change of the instances row, and not taken it back
	shadow           Shadow
	made, undone     bool // whether the call has changed anything, and taken anything back
	exempted         bool // calls that the store sees differ from those that callers make
}

func newAccount(r *run) *account {
	return &account{run: r, told: map[observe.Kind]int{}, exempted: r.world.Foreign() || r.world.Plan().Strategy == plan.StrategyDeadletter}
}

// Observe keeps what the store reports about its last call.
func (k *account) Observe(o *observe.Observation) {
	if k.run.world.Store() != nil {
		k.shadow.Observe(o)
	}
	if o.Kind > observe.MessageDecoded {
		k.made, k.undone = k.made || !o.Undo, k.undone || o.Undo
	}
	switch o.Kind {
	case observe.EventDecoded:
		k.events++
		k.decoded(o)
		return
	case observe.MessageDecoded:
		k.messages++
		k.decoded(o)
		return
	case observe.RowRemoved:
		if o.Reason != observe.RemovedUndone && !slices.Contains(removals[k.kind], o.Reason) && !k.exempted {
			k.wrong(k.caller.Node, "removes message %d in call %d, %s, for reason %d: expected one of %v", o.Message, k.number, k.kind, o.Reason, removals[k.kind])
		}
		return
	case observe.RowInserted:
		if a, ok := engine.Known(o.Item).(engine.ActivityExecuteItem); ok && (o.Execution != a.ExecutionID || o.EventID != a.ID) && !k.exempted {
			k.wrong(k.caller.Node, "inserts activity %d of execution %d as %d of %d", a.ID, a.ExecutionID, o.EventID, o.Execution)
		}
		return
	case observe.InstanceCreated, observe.PointerSet, observe.ParentSet, observe.CustomStatusSet:
		if k.told[o.Kind]++; o.Undo {
			if k.told[o.Kind] -= 2; k.told[o.Kind] < 0 {
				k.wrong(k.caller.Node, "takes back a change of kind %d in call %d, which has made none", o.Kind, k.number)
			}
		}
		return
	case observe.CallBegin:
		if o.Call <= k.number && !k.exempted {
			k.wrong(o.Caller.Node, "begins call %d after call %d", o.Call, k.number)
		}
		k.events, k.messages, k.failed = 0, 0, 0
		clear(k.told)
		k.made, k.undone = false, false
		k.number, k.kind, k.caller, k.ended = o.Call, o.CallKind, o.Caller, false
		if k.request = (observe.CallRequest{}); o.Request != nil {
			k.request = *o.Request
		}
		if k.request.Ack != nil {
			k.ack = *k.request.Ack
		}
		return
	case observe.CallEnd:
	default:
		return
	}
	if !k.exempted && (o.Call != k.number || o.CallKind != k.kind || o.Caller != k.caller || k.ended) {
		k.wrong(o.Caller.Node, "ends call %d, %s of %v, which has not begun", o.Call, o.CallKind, o.Caller)
	}
	k.outcome, k.ended, k.atMs = o.Outcome, true, o.AtMs
	if k.kind == observe.CallAckOrchestrationItem && o.Err != nil && k.made && !k.undone && !k.exempted {
		k.wrong(o.Caller.Node, "reports changes of call %d, %s, which fails, and takes none back", k.number, k.kind)
	}
	k.readAll(o)
	if k.number%64 == 0 {
		k.shown(o.AtMs)
	}
}

// decoded counts decodings that fail; each says whether it does.
func (k *account) decoded(o *observe.Observation) {
	switch {
	case o.Outcome == observe.OutcomePermanent:
		k.failed++
	case o.Outcome != observe.OutcomeOK && !k.exempted && k.run.world.Store() != nil:
		k.wrong(k.caller.Node, "does not say in call %d, %s, whether it could decode something", k.number, k.kind)
	}
}

// removals lists for which reasons a call removes messages.
var removals = map[observe.CallKind][]observe.RemoveReason{
	observe.CallFetchOrchestrationItem: {observe.RemovedOrphan},
	observe.CallAckOrchestrationItem:   {observe.RemovedAcked, observe.RemovedCancelled},
	observe.CallAckWorkItem:            {observe.RemovedAcked},
	observe.CallAdmin:                  {observe.RemovedDeleted},
}

// finish looks at the store once more, at its own time: that of the last call if callers bring the time.
func (k *account) finish() {
	if k.run.world.Plan().Store.CallersClock {
		k.shown(k.atMs)
		return
	}
	k.shown(k.run.world.NowMs())
}

// readAll checks that a store reports having decoded the work that it hands out, and whose that is.
func (k *account) readAll(o *observe.Observation) {
	events, messages, target := 0, 0, ""
	switch {
	case k.exempted || k.run.world.Store() == nil: // a test's story reports only what the test needs
		return
	case o.Fetched != nil:
		if why := o.Fetched.Item.HistoryError; why != "" && k.failed == 0 {
			k.wrong(o.Caller.Node, "hands out work with the error %q, but reports no decoding that failed", why)
		}
		events, messages, target = min(len(o.Fetched.Item.History), 1), len(o.Fetched.Item.Messages), o.Fetched.Item.Instance
	case o.Work != nil:
		messages, target = 1, o.Work.Item.Target()
	default:
		return
	}
	if name := k.run.world.Store().InstanceName(o.Instance); name != target {
		k.wrong(o.Caller.Node, "hands out work of %q as that of %q", target, name)
	}
	if k.events < events || k.messages < messages {
		k.wrong(o.Caller.Node, "hands out %d messages, and events: %t, but reports that it has decoded %d and %d", messages, events > 0, k.messages, k.events)
	}
}

// Record compares a call's observations with the caller's record of the call.
func (k *account) Record(r *cluster.Record) {
	if k.exempted || r.StoreCall == 0 {
		return // a fault answered, not the store
	}
	switch r.Kind {
	case record.CallExecuted:
		k.compare(r, observe.Caller{Node: r.Node, Incarnation: r.Incarnation}, r.CallKind, r.Outcome)
	case record.Looked:
		k.compare(r, k.caller, call.Kind(r.Request), k.outcome)
	case record.ClientAccepted:
		kind := observe.CallEnqueueForOrchestrator
		if r.Item.Kind() == engine.ItemActivityExecute {
			kind = observe.CallEnqueueForWorker
		}
		if k.number != r.StoreCall || k.kind != kind || !sameItem(k.request.Item, r.Item) {
			k.wrong(0, "reports for call %d that the client sent %s: expected %s", k.number, pretty.Value(k.request.Item), pretty.Value(r.Item))
		}
	}
}

func (k *account) compare(r *cluster.Record, caller observe.Caller, kind observe.CallKind, outcome observe.Outcome) {
	switch {
	case k.number != r.StoreCall || k.kind != kind || k.caller != caller || !k.ended:
		k.wrong(r.Node, "reports that call %d is %s of %v, ended: %t: expected call %d, %s of %v", k.number, k.kind, k.caller, k.ended, r.StoreCall, kind, caller)
	case k.outcome != outcome:
		k.wrong(r.Node, "reports that %s ends with outcome %d, but the caller got %d", kind, k.outcome, outcome)
	case !sameRequest(&k.request, &k.ack, r.Request):
		k.wrong(r.Node, "reports that %s has the request %s, but the caller sent %s", kind, pretty.Value(&k.request), pretty.Value(r.Request))
	}
}

func (k *account) wrong(node uint32, format string, args ...any) {
	k.run.violate(Account, cluster.ClassInternal, node, "", "the store "+fmt.Sprintf(format, args...))
}

// sameRequest reports whether a request, with a copy of its ack, matches a call.
func sameRequest(q *observe.CallRequest, ack *engine.OrchestrationAck, c call.Call) bool {
	switch c := c.(type) {
	case call.FetchOrchestrationItem:
		return q.LockTimeout == c.LockTimeout && q.Filter == c.Filter
	case call.FetchWorkItem:
		return q.LockTimeout == c.LockTimeout && q.Session == c.Session && q.Tags.Mode == c.Tags.Mode && slices.Equal(q.Tags.Tags, c.Tags.Tags)
	case call.AckOrchestrationItem:
		return q.Ack != nil && sameAck(ack, (*engine.OrchestrationAck)(&c))
	case call.AckWorkItem:
		return q.Token == c.LockToken && sameItem(q.Item, c.Completion)
	case call.AbandonOrchestrationItem:
		return q.Token == c.LockToken && q.Delay == c.Delay && q.IgnoreAttempt == c.IgnoreAttempt
	case call.AbandonWorkItem:
		return q.Token == c.LockToken && q.Delay == c.Delay && q.IgnoreAttempt == c.IgnoreAttempt
	case call.RenewOrchestrationItemLock:
		return q.Token == c.LockToken && q.LockTimeout == c.ExtendFor
	case call.RenewWorkItemLock:
		return q.Token == c.LockToken && q.LockTimeout == c.ExtendFor
	case call.RenewSessionLock:
		return slices.Equal(q.Owners, c.Owners) && q.LockTimeout == c.ExtendFor && q.IdleTimeout == c.IdleTimeout
	case call.CleanupOrphanedSessions:
		return q.IdleTimeout == c.IdleTimeout
	case call.GetCustomStatus:
		return q.Instance == c.Instance
	case call.GetKVValue:
		return q.Instance == c.Instance && q.Key == c.Key
	case call.GetKVAllValues:
		return q.Instance == c.Instance
	case call.GetInstanceStats:
		return q.Instance == c.Instance
	}
	if call.Kind(c) != observe.CallAdmin {
		return true // no checker reads the requests of other kinds of calls
	}
	instance := reflect.ValueOf(c).FieldByName("Instance")
	return q.Admin == call.Method(c) && (!instance.IsValid() || q.Instance == instance.String())
}

// sameItem reports whether two items are the same message. It compares only cheap fields, since the store cannot change
// part of a message.
func sameItem(a, b engine.WorkItem) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Kind() == b.Kind() && a.Target() == b.Target()
}

// sameAck reports whether two acks are the same. It compares only cheap fields, since the store cannot change part of
// an ack.
func sameAck(a, b *engine.OrchestrationAck) bool {
	return a.LockToken == b.LockToken && a.ExecutionID == b.ExecutionID && a.Metadata.Status == b.Metadata.Status &&
		len(a.HistoryDelta) == len(b.HistoryDelta) && len(a.WorkerItems) == len(b.WorkerItems) &&
		len(a.OrchestratorItems) == len(b.OrchestratorItems) && len(a.CancelledActivities) == len(b.CancelledActivities)
}

// every writes and reads all kinds, with all their fields.
var every = engine.NewJSONCodec("every kind", engine.Kinds2x(), engine.WorkItemKinds2x())

// reads checks that what a caller gives to the store is what its text reads as. In a run nobody else reads all of these
// texts: the store keeps decoded what it has encoded.
func (k *account) reads(c call.Call) {
	same := func(text []byte, given, back any, err error) {
		was, _ := json.Marshal(given) // with U+FFFD for what is not UTF-8, as in the text
		if is, _ := json.Marshal(back); err != nil || string(is) != string(was) {
			k.wrong(0, "is given %s, written as %s, and reads %s, %v", was, text, is, err)
		}
	}
	call.WithContents(c, func(e engine.Event) engine.Event {
		if text, err := every.AppendEvent(nil, e); err == nil {
			back, err := every.DecodeEvent(text)
			same(text, e, back, err)
		}
		return e
	}, func(w engine.WorkItem) engine.WorkItem {
		if text, err := every.AppendWorkItem(nil, w); err == nil {
			back, err := every.DecodeWorkItem(text)
			same(text, w, back, err)
		}
		return w
	})
}
