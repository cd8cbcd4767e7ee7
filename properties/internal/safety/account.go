package safety

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// accountChecker compares each call's observations with the caller's request and answer. It shows whether the
// observations can be trusted.
type accountChecker struct {
	check.Base
	events, messages int  // how many events and messages the store says it decoded
	ended            bool // whether the last call has ended
	number           uint64
	kind             observe.CallKind
	caller           observe.Caller
	outcome          observe.Outcome
	ack              engine.OrchestrationAck // a copy of the request's ack, because the store clears its own when the call ends
	exempted         bool                    // calls that the store sees differ from those that callers make
}

func newAccountChecker(m *check.Run) check.Checker {
	return &accountChecker{Base: check.Base{Run: m}, exempted: m.World.Foreign() || m.World.Plan().Strategy == plan.StrategyDeadletter}
}

// Observes returns the kinds of observations that the checker subscribes to.
func (*accountChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(observe.CallBegin, observe.CallEnd, observe.EventDecoded, observe.MessageDecoded)
}

// Records returns the kinds of records that the checker subscribes to.
func (*accountChecker) Records() check.Set[record.Kind] {
	return check.SetOf(record.CallExecuted, record.Looked, record.ClientAccepted)
}

// Observe keeps what the store reports about its last call.
func (k *accountChecker) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.EventDecoded:
		k.events++
		return
	case observe.MessageDecoded:
		k.messages++
		return
	case observe.CallBegin:
		if o.Call <= k.number && !k.exempted {
			k.wrong(o.Caller.Node, "begins call %d after call %d", o.Call, k.number)
		}
		k.events, k.messages = 0, 0
		k.number, k.kind, k.caller, k.ended = o.Call, o.CallKind, o.Caller, false
		if o.Request.Ack != nil {
			k.ack = *o.Request.Ack
		}
		return
	}
	if !k.exempted && (o.Call != k.number || o.CallKind != k.kind || o.Caller != k.caller || k.ended) {
		k.wrong(o.Caller.Node, "ends call %d, %s of %v, which has not begun", o.Call, o.CallKind, o.Caller)
	}
	k.outcome, k.ended = o.Outcome, true
	k.readAll(o)
}

// readAll checks that a store reports having decoded the work that it hands out.
func (k *accountChecker) readAll(o *observe.Observation) {
	events, messages := 0, 0
	switch {
	case k.exempted || k.Run.World.Store() == nil: // a test's story reports only what the test needs
		return
	case o.Fetched != nil:
		events, messages = min(len(o.Fetched.Item.History), 1), len(o.Fetched.Item.Messages)
	case o.Work != nil:
		messages = 1
	}
	if k.events < events || k.messages < messages {
		k.wrong(o.Caller.Node, "hands out %d messages, and events: %t, but reports that it has decoded %d and %d", messages, events > 0, k.messages, k.events)
	}
}

// Record compares a call's observations with the caller's record of the call.
func (k *accountChecker) Record(r *cluster.Record) {
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
		if k.number != r.StoreCall || k.kind != kind || !sameItem(k.asked().Item, r.Item) {
			k.wrong(0, "reports for call %d that the client sent %s: expected %s", k.number, pretty.Value(k.asked().Item), pretty.Value(r.Item))
		}
	}
}

func (k *accountChecker) compare(r *cluster.Record, caller observe.Caller, kind observe.CallKind, outcome observe.Outcome) {
	switch {
	case k.number != r.StoreCall || k.kind != kind || k.caller != caller || !k.ended:
		k.wrong(r.Node, "reports that call %d is %s of %v, ended: %t: expected call %d, %s of %v", k.number, k.kind, k.caller, k.ended, r.StoreCall, kind, caller)
	case k.outcome != outcome:
		k.wrong(r.Node, "reports that %s ends with outcome %d, but the caller got %d", kind, k.outcome, outcome)
	case !asked(k.asked(), &k.ack, r.Request):
		k.wrong(r.Node, "reports that %s has the request %s, but the caller sent %s", kind, pretty.Value(k.asked()), pretty.Value(r.Request))
	}
}

func (k *accountChecker) wrong(node uint32, format string, args ...any) {
	k.Run.Violate(check.Breach{Property: shadowID, Class: cluster.ClassInternal, Node: node, Message: "the store " + fmt.Sprintf(format, args...)})
}

// asked returns the last request as the model has it.
func (k *accountChecker) asked() *observe.CallRequest { return &k.Run.Model.Current.Request }

// asked reports whether a request, with a copy of its ack, matches a call.
func asked(q *observe.CallRequest, ack *engine.OrchestrationAck, c call.Call) bool {
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
	return true // no checker reads the requests of other kinds of calls
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
