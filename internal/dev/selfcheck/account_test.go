package selfcheck_test

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// accountRig shows calls of node B to a checker, as the store observes them and as the node records them.
type accountRig struct{ m *selfcheck.Monitor }

func newAccountRig(w *accountWorld) accountRig {
	w.Infos = []cluster.NodeInfo{{Number: 1, Name: "A"}, {Number: 2, Name: "B"}}
	w.RealStore = memprovider.New(memprovider.Options{})
	return accountRig{selfcheck.New(w)}
}

// accountWorld is a world with a store of durosim's own or another.
type accountWorld struct {
	rig.FakeWorld
	foreign bool
}

func (w *accountWorld) Foreign() bool { return w.foreign }

// accountCaller is the second node in its third start, so that neither number stands for the other.
var accountCaller = observe.Caller{Node: 2, Incarnation: 3}

func (r accountRig) begin(no uint64, kind observe.CallKind, q observe.CallRequest) {
	r.m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: no, CallKind: kind, Caller: accountCaller, Request: &q})
}

func (r accountRig) end(no uint64, kind observe.CallKind, outcome observe.Outcome) {
	r.ends(observe.Observation{Call: no, CallKind: kind, Caller: accountCaller, Outcome: outcome})
}

func (r accountRig) ends(o observe.Observation) {
	o.Kind = observe.CallEnd
	r.m.Observe(&o)
}

// decoded shows how many events and messages the store has decoded.
func (r accountRig) decoded(no uint64, events, messages int) {
	for range events {
		r.m.Observe(&observe.Observation{Kind: observe.EventDecoded, Call: no, Outcome: observe.OutcomeOK})
	}
	for range messages {
		r.m.Observe(&observe.Observation{Kind: observe.MessageDecoded, Call: no, Outcome: observe.OutcomeOK})
	}
}

// sent shows that the first message is stored.
func (r accountRig) sent(item engine.WorkItem) {
	r.m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: item.Target()})
	r.m.Observe(&observe.Observation{Kind: observe.RowInserted, Message: 1, Instance: 1, Item: item})
}

func (r accountRig) executed(no uint64, kind observe.CallKind, outcome observe.Outcome, request call.Call) {
	r.m.Record(&cluster.Record{Kind: record.CallExecuted, StoreCall: no, CallKind: kind, Outcome: outcome, Request: request, Node: accountCaller.Node, Incarnation: accountCaller.Incarnation})
}

// TestAccountOfCalls checks that a call's observations must agree with the caller's request and answer.
func TestAccountOfCalls(t *testing.T) {
	const (
		ackWork, ackTurn, fetch, fetchWork = observe.CallAckWorkItem, observe.CallAckOrchestrationItem, observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem
		ok, refused                        = observe.OutcomeOK, observe.OutcomePermanent
	)
	mine, token := call.AckWorkItem{LockToken: "w1"}, observe.CallRequest{Token: "w1"}
	message := engine.CancelInstanceItem{Instance: "x"}
	whole := func(r accountRig) { r.begin(5, ackWork, token); r.end(5, ackWork, ok) }
	handed := func(r accountRig, no uint64, events, messages int) {
		f := &engine.FetchedOrchestration{Item: engine.OrchestrationItem{History: make([]engine.Event, events), Messages: make([]engine.WorkItem, messages)}}
		r.ends(observe.Observation{Call: no, CallKind: fetch, Caller: accountCaller, Outcome: ok, Fetched: f})
	}
	accepted := func(r accountRig, no uint64, item engine.WorkItem) {
		r.m.Record(&cluster.Record{Kind: record.ClientAccepted, StoreCall: no, Item: item})
	}
	for _, row := range []struct {
		name string
		do   func(r accountRig)
		want string // "NODE: MESSAGE" of each violation
	}{
		{"a call", func(r accountRig) { whole(r); r.executed(5, ackWork, ok, mine) }, ""},
		{"calls in order", func(r accountRig) { whole(r); r.begin(6, fetch, observe.CallRequest{}); r.end(6, fetch, refused) }, ""},
		{"a number twice", func(r accountRig) { whole(r); r.begin(5, ackWork, token) }, "B: the store begins call 5 after call 5"},
		{"an earlier number", func(r accountRig) { whole(r); r.begin(4, ackWork, token) }, "B: the store begins call 4 after call 5"},
		{"an end of another call", func(r accountRig) { r.begin(5, ackWork, token); r.end(6, ackWork, ok) }, "B: the store ends call 6, ack_work_item of {2 3}, which has not begun"},
		{"an end of another kind", func(r accountRig) { r.begin(5, ackWork, token); r.end(5, fetch, ok) }, "B: the store ends call 5, fetch_orchestration_item of {2 3}, which has not begun"},
		{"an end for another caller", func(r accountRig) {
			r.begin(5, ackWork, token)
			r.ends(observe.Observation{Call: 5, CallKind: ackWork, Caller: observe.Caller{Node: 1, Incarnation: 2}, Outcome: ok})
		}, "A: the store ends call 5, ack_work_item of {1 2}, which has not begun"},
		{"two ends", func(r accountRig) { whole(r); r.end(5, ackWork, ok) }, "B: the store ends call 5, ack_work_item of {2 3}, which has not begun"},
		{"a history read", func(r accountRig) { r.begin(5, fetch, observe.CallRequest{}); r.decoded(5, 1, 2); handed(r, 5, 3, 2) }, ""},
		{"no event read", func(r accountRig) { r.begin(5, fetch, observe.CallRequest{}); r.decoded(5, 0, 2); handed(r, 5, 3, 2) },
			"B: the store hands out 2 messages, and events: true, but reports that it has decoded 2 and 0"},
		{"a message not read", func(r accountRig) { r.begin(5, fetch, observe.CallRequest{}); r.decoded(5, 1, 2); handed(r, 5, 0, 3) },
			"B: the store hands out 3 messages, and events: false, but reports that it has decoded 2 and 1"},
		{"read by the call before", func(r accountRig) {
			r.begin(5, fetch, observe.CallRequest{})
			r.decoded(5, 1, 1)
			handed(r, 5, 1, 1)
			r.begin(6, fetch, observe.CallRequest{})
			handed(r, 6, 1, 1)
		}, "B: the store hands out 1 messages, and events: true, but reports that it has decoded 0 and 0"},
		{"an activity read", func(r accountRig) {
			r.begin(5, fetchWork, observe.CallRequest{})
			r.decoded(5, 0, 1)
			r.ends(observe.Observation{Call: 5, CallKind: fetchWork, Caller: accountCaller, Outcome: ok, Work: &engine.FetchedWork{Item: engine.ActivityExecuteItem{}}})
		}, ""},
		{"an activity not read", func(r accountRig) {
			r.begin(5, fetchWork, observe.CallRequest{})
			r.decoded(5, 1, 0)
			r.ends(observe.Observation{Call: 5, CallKind: fetchWork, Caller: accountCaller, Outcome: ok, Work: &engine.FetchedWork{Item: engine.ActivityExecuteItem{}}})
		}, "B: the store hands out 1 messages, and events: false, but reports that it has decoded 0 and 1"},
		{"an activity of another instance", func(r accountRig) {
			r.begin(5, fetchWork, observe.CallRequest{})
			r.decoded(5, 0, 1)
			r.ends(observe.Observation{Call: 5, CallKind: fetchWork, Caller: accountCaller, Outcome: ok, Work: &engine.FetchedWork{Item: engine.ActivityExecuteItem{Instance: "x"}}})
		}, `B: the store hands out work of "x" as that of ""`},
		{"a message acknowledged by an abandon", func(r accountRig) {
			r.begin(5, observe.CallAbandonWorkItem, observe.CallRequest{})
			r.sent(message)
			r.m.Observe(&observe.Observation{Kind: observe.RowRemoved, Message: 1, Reason: observe.RemovedAcked})
		}, "B: the store removes message 1 in call 5, abandon_work_item, for reason 1: expected one of []"},
		{"a message taken back", func(r accountRig) {
			r.begin(5, observe.CallAbandonWorkItem, observe.CallRequest{})
			r.sent(message)
			r.m.Observe(&observe.Observation{Kind: observe.RowRemoved, Message: 1, Reason: observe.RemovedUndone})
		}, ""},
		{"another operator's call", func(r accountRig) {
			r.begin(5, observe.CallAdmin, observe.CallRequest{Admin: "list_children", Instance: "x"})
			r.end(5, observe.CallAdmin, ok)
			r.m.Record(&cluster.Record{Kind: record.Looked, StoreCall: 5, Request: call.ListChildren{Instance: "x"}})
			r.m.Record(&cluster.Record{Kind: record.Looked, StoreCall: 5, Request: call.GetParentID{Instance: "x"}})
		}, ": the store reports that admin has the request " + strings.Replace(requestText("", "x"), "Admin:", "Admin:list_children", 1) + ", but the caller sent {Instance:x}"},
		{"an error without a failed decoding", func(r accountRig) {
			f := &engine.FetchedOrchestration{Item: engine.OrchestrationItem{HistoryError: "bad"}}
			r.begin(5, fetch, observe.CallRequest{})
			r.m.Observe(&observe.Observation{Kind: observe.EventDecoded, Call: 5, Outcome: observe.OutcomePermanent})
			r.ends(observe.Observation{Call: 5, CallKind: fetch, Caller: accountCaller, Outcome: ok, Fetched: f})
			r.begin(6, fetch, observe.CallRequest{})
			r.ends(observe.Observation{Call: 6, CallKind: fetch, Caller: accountCaller, Outcome: ok, Fetched: f})
		}, `B: the store hands out work with the error "bad", but reports no decoding that failed`},
		{"a fault answers", func(r accountRig) {
			whole(r)
			r.m.Record(&cluster.Record{Kind: record.CallExecuted, Step: 9, CallKind: fetch, Outcome: refused, Node: 1, Incarnation: 1})
		}, ""},
		{"executed before its end", func(r accountRig) { r.begin(5, ackWork, token); r.executed(5, ackWork, ok, mine) },
			"B: the store reports that call 5 is ack_work_item of {2 3}, ended: false: expected call 5, ack_work_item of {2 3}"},
		{"another number executed", func(r accountRig) { whole(r); r.executed(6, ackWork, ok, mine) },
			"B: the store reports that call 5 is ack_work_item of {2 3}, ended: true: expected call 6, ack_work_item of {2 3}"},
		{"another kind executed", func(r accountRig) { whole(r); r.executed(5, fetch, ok, mine) },
			"B: the store reports that call 5 is ack_work_item of {2 3}, ended: true: expected call 5, fetch_orchestration_item of {2 3}"},
		{"another node's call", func(r accountRig) {
			whole(r)
			r.m.Record(&cluster.Record{Kind: record.CallExecuted, StoreCall: 5, CallKind: ackWork, Outcome: ok, Request: mine, Node: 1, Incarnation: 3})
		}, "A: the store reports that call 5 is ack_work_item of {2 3}, ended: true: expected call 5, ack_work_item of {1 3}"},
		{"another outcome", func(r accountRig) { whole(r); r.executed(5, ackWork, refused, mine) }, "B: the store reports that ack_work_item ends with outcome 1, but the caller got 4"},
		{"another request", func(r accountRig) { whole(r); r.executed(5, ackWork, ok, call.AckWorkItem{LockToken: "w2"}) },
			"B: the store reports that ack_work_item has the request " + requestText("w1", "") + ", but the caller sent {LockToken:w2 Completion:<nil>}"},
		{"an ack that the store clears", func(r accountRig) {
			ack := engine.OrchestrationAck{LockToken: "o1", ExecutionID: 2}
			r.begin(5, ackTurn, observe.CallRequest{Ack: &ack})
			r.end(5, ackTurn, ok)
			ack = engine.OrchestrationAck{}
			r.executed(5, ackTurn, ok, call.AckOrchestrationItem{LockToken: "o1", ExecutionID: 2})
		}, ""},
		{"a probe looks", func(r accountRig) {
			r.begin(5, observe.CallGetCustomStatus, observe.CallRequest{Instance: "x"})
			r.end(5, observe.CallGetCustomStatus, ok)
			r.m.Record(&cluster.Record{Kind: record.Looked, StoreCall: 5, Request: call.GetCustomStatus{Instance: "x"}})
			r.m.Record(&cluster.Record{Kind: record.Looked, StoreCall: 5, Request: call.GetCustomStatus{Instance: "y"}, Node: 1})
		}, "A: the store reports that get_custom_status has the request " + requestText("", "x") + ", but the caller sent {Instance:y LastSeen:0}"},
		{"a client sends", func(r accountRig) {
			r.begin(5, observe.CallEnqueueForOrchestrator, observe.CallRequest{Item: message})
			r.end(5, observe.CallEnqueueForOrchestrator, ok)
			accepted(r, 5, message)
			r.begin(6, observe.CallEnqueueForWorker, observe.CallRequest{Item: engine.ActivityExecuteItem{Instance: "x"}})
			r.end(6, observe.CallEnqueueForWorker, ok)
			accepted(r, 6, engine.ActivityExecuteItem{Instance: "x"})
		}, ""},
		{"a client sends something else", func(r accountRig) {
			r.begin(5, observe.CallEnqueueForOrchestrator, observe.CallRequest{Item: message})
			r.end(5, observe.CallEnqueueForOrchestrator, ok)
			accepted(r, 5, engine.CancelInstanceItem{Instance: "y"})
		}, ": the store reports for call 5 that the client sent {Instance:x Reason:}: expected {Instance:y Reason:}"},
		{"a client sends in another call", func(r accountRig) {
			r.begin(5, observe.CallEnqueueForOrchestrator, observe.CallRequest{Item: message})
			r.end(5, observe.CallEnqueueForOrchestrator, ok)
			accepted(r, 6, message)
		}, ": the store reports for call 5 that the client sent {Instance:x Reason:}: expected {Instance:x Reason:}"},
		{"a client sends to the other queue", func(r accountRig) {
			r.begin(5, observe.CallEnqueueForWorker, observe.CallRequest{Item: message})
			r.end(5, observe.CallEnqueueForWorker, ok)
			accepted(r, 5, message)
		}, ": the store reports for call 5 that the client sent {Instance:x Reason:}: expected {Instance:x Reason:}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newAccountRig(&accountWorld{})
			row.do(r)
			if got := r.found(); got != row.want {
				t.Errorf("found %q\nwant  %q", got, row.want)
			}
		})
	}
}

// requestText is the text of a request that has these fields only.
func requestText(token, instance string) string {
	return "{Filter:<nil> LockTimeout:0s Delay:0s IgnoreAttempt:false Token:" + token + " Session:<nil> Tags:{Mode:0 Tags:[]} Ack:<nil> Item:<nil> " +
		"Owners:[] IdleTimeout:0s Admin: Force:false Instance:" + instance + " Key:}"
}

func (r accountRig) found() string {
	var lines []string
	for _, v := range r.m.Violations() {
		lines = append(lines, v.Node+": "+v.Message)
	}
	return strings.Join(lines, "\n")
}

// TestAccountExempts checks which worlds are exempt: the calls that their stores see differ from those that callers make.
func TestAccountExempts(t *testing.T) {
	for _, row := range []struct {
		name   string
		w      accountWorld
		exempt bool
	}{
		{"durosim's own store", accountWorld{}, false},
		{"another store", accountWorld{foreign: true}, true},
		{"dead letters", accountWorld{FakeWorld: rig.FakeWorld{ThePlan: plan.Plan{Strategy: plan.StrategyDeadletter}}}, true},
	} {
		r := newAccountRig(&row.w)
		r.begin(5, observe.CallFetchWorkItem, observe.CallRequest{LockTimeout: time.Second})
		r.begin(4, observe.CallFetchWorkItem, observe.CallRequest{LockTimeout: time.Second})
		if got := r.found(); (got == "") != row.exempt {
			t.Errorf("%s: found %q after a number too small", row.name, got)
		}
		r.ends(observe.Observation{Call: 3, CallKind: observe.CallFetchWorkItem, Work: &engine.FetchedWork{Item: engine.ActivityExecuteItem{}}})
		r.executed(2, observe.CallAckWorkItem, observe.OutcomeOK, call.AckWorkItem{})
		if got := strings.Count(r.found(), "the store"); got != map[bool]int{true: 0, false: 3}[row.exempt] {
			t.Errorf("%s: found %q", row.name, r.found())
		}
	}
}
