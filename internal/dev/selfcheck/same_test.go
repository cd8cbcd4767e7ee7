package selfcheck

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
)

// TestSameRequest changes each part of a request in turn, and lists the parts in which a request must agree with the call.
func TestSameRequest(t *testing.T) {
	filter, session := &engine.CapabilityFilter{}, &engine.SessionFetchConfig{OwnerID: "w"}
	ack := engine.OrchestrationAck{LockToken: "o1", ExecutionID: 2}
	done := engine.ActivityCompletedItem{Instance: "order-1"}
	second, minute := time.Second, time.Minute
	for _, row := range []struct {
		request observe.CallRequest
		of      call.Call
		want    string
	}{
		{observe.CallRequest{LockTimeout: second, Filter: filter}, call.FetchOrchestrationItem{LockTimeout: second, Filter: filter}, "Filter gone, LockTimeout"},
		{observe.CallRequest{LockTimeout: second, Session: session, Tags: engine.TagFilter{Tags: []string{"a"}}}, call.FetchWorkItem{LockTimeout: second, Session: session, Tags: engine.TagFilter{Tags: []string{"a"}}}, "LockTimeout, Session gone, Session.OwnerID, Session.LockTimeout, Tags.Mode, Tags.Tags without the first, Tags.Tags without the last, Tags.Tags with the last twice, Tags.Tags[0]"},
		{observe.CallRequest{Ack: &ack}, call.AckOrchestrationItem(ack), "Ack gone, Ack.LockToken, Ack.ExecutionID, Ack.Metadata.Status"},
		{observe.CallRequest{Token: "w1", Item: done}, call.AckWorkItem{LockToken: "w1", Completion: done}, "Token, Item.Instance"},
		{observe.CallRequest{Token: "w1"}, call.AckWorkItem{LockToken: "w1"}, "Token"},
		{observe.CallRequest{Token: "o1", Delay: second}, call.AbandonOrchestrationItem{LockToken: "o1", Delay: second}, "Delay, IgnoreAttempt, Token"},
		{observe.CallRequest{Token: "w1", Delay: second}, call.AbandonWorkItem{LockToken: "w1", Delay: second}, "Delay, IgnoreAttempt, Token"},
		{observe.CallRequest{Token: "o1", LockTimeout: second}, call.RenewOrchestrationItemLock{LockToken: "o1", ExtendFor: second}, "LockTimeout, Token"},
		{observe.CallRequest{Token: "w1", LockTimeout: second}, call.RenewWorkItemLock{LockToken: "w1", ExtendFor: second}, "LockTimeout, Token"},
		{observe.CallRequest{Owners: []string{"w"}, LockTimeout: second, IdleTimeout: minute}, call.RenewSessionLock{Owners: []string{"w"}, ExtendFor: second, IdleTimeout: minute}, "LockTimeout, Owners without the first, Owners without the last, Owners with the last twice, Owners[0], IdleTimeout"},
		{observe.CallRequest{IdleTimeout: minute}, call.CleanupOrphanedSessions{IdleTimeout: minute}, "IdleTimeout"},
		{observe.CallRequest{Instance: "order-1"}, call.GetCustomStatus{Instance: "order-1"}, "Instance"},
		{observe.CallRequest{Instance: "order-1", Key: "k"}, call.GetKVValue{Instance: "order-1", Key: "k"}, "Instance, Key"},
		{observe.CallRequest{Instance: "order-1"}, call.GetKVAllValues{Instance: "order-1"}, "Instance"},
		{observe.CallRequest{Instance: "order-1"}, call.GetInstanceStats{Instance: "order-1"}, "Instance"},
		{observe.CallRequest{Admin: "list_children", Instance: "order-1"}, call.ListChildren{Instance: "order-1"}, "Admin, Instance"},
		{observe.CallRequest{Admin: "list_instances"}, call.ListInstances{}, "Admin"},
		{observe.CallRequest{Instance: "order-1"}, call.Read{Instance: "order-1"}, ""},
	} {
		agrees := func() bool {
			var ack engine.OrchestrationAck
			if row.request.Ack != nil {
				ack = *row.request.Ack
			}
			return sameRequest(&row.request, &ack, row.of)
		}
		if !agrees() {
			t.Errorf("%s does not agree with its own request", call.Kind(row.of))
		}
		var parts []string
		rig.Change(&row.request, func(path string) {
			if !agrees() {
				parts = append(parts, path)
			}
		})
		if got := strings.Join(parts, ", "); got != row.want {
			t.Errorf("%s: a change is noticed in %q, want %q", call.Kind(row.of), got, row.want)
		}
	}
}

// TestSameItem compares messages, of which there may be none.
func TestSameItem(t *testing.T) {
	cancel, other := engine.CancelInstanceItem{Instance: "a"}, engine.QueueMessageItem{Instance: "a"}
	for _, row := range []struct {
		a, b engine.WorkItem
		want bool
	}{
		{nil, nil, true}, {cancel, nil, false}, {nil, cancel, false}, {cancel, cancel, true}, {cancel, other, false}, {cancel, engine.CancelInstanceItem{Instance: "b"}, false},
	} {
		if got := sameItem(row.a, row.b); got != row.want {
			t.Errorf("sameItem(%+v, %+v) is %t", row.a, row.b, got)
		}
	}
}
