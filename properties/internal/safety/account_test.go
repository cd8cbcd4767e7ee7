package safety

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
)

// misled passes falsified store observations to the checkers.
type misled struct {
	patient
	lie func(o *observe.Observation) (keep bool)
}

func (m misled) Observe(o *observe.Observation) {
	told := *o
	if o.Request != nil {
		q := *o.Request
		told.Request = &q
	}
	if m.lie(&told) {
		m.patient.Observe(&told)
	}
}

// TestAccountOfCalls checks that a call's observations must agree with the caller's request and answer.
func TestAccountOfCalls(t *testing.T) {
	on := func(kind observe.CallKind, change func(q *observe.CallRequest)) func(o *observe.Observation) bool {
		return func(o *observe.Observation) bool {
			if o.Kind == observe.CallBegin && o.CallKind == kind {
				change(o.Request)
			}
			return true
		}
	}
	for _, row := range []struct {
		name string
		lie  func(o *observe.Observation) bool
		want string // empty if no violation is expected
	}{
		{"the truth", func(*observe.Observation) bool { return true }, ""},
		{"no beginning", func(o *observe.Observation) bool {
			return o.Kind != observe.CallBegin || o.CallKind != observe.CallAckWorkItem
		}, "which has not begun"},
		{"no end", func(o *observe.Observation) bool {
			return o.Kind != observe.CallEnd || o.CallKind != observe.CallAckWorkItem
		}, "ended: false"},
		{"another outcome", func(o *observe.Observation) bool {
			if o.Kind == observe.CallEnd && o.CallKind == observe.CallAckWorkItem {
				o.Outcome = observe.OutcomePermanent
			}
			return true
		}, "ends with outcome"},
		{"another caller", func(o *observe.Observation) bool {
			if o.CallKind == observe.CallAckWorkItem {
				o.Caller.Node++
			}
			return true
		}, "expected call"},
		{"another lock", on(observe.CallFetchWorkItem, func(q *observe.CallRequest) { q.LockTimeout++ }), "fetch_work_item has the request"},
		{"no filter", on(observe.CallFetchOrchestrationItem, func(q *observe.CallRequest) { q.Filter = &engine.CapabilityFilter{} }), "fetch_orchestration_item has the request"},
		{"another token", on(observe.CallAckWorkItem, func(q *observe.CallRequest) { q.Token += "!" }), "ack_work_item has the request"},
		{"another delay", on(observe.CallAbandonOrchestrationItem, func(q *observe.CallRequest) { q.Delay += time.Second }), "abandon_orchestration_item has the request"},
		{"nothing acknowledged", on(observe.CallAckOrchestrationItem, func(q *observe.CallRequest) { q.Ack = &engine.OrchestrationAck{} }), "ack_orchestration_item has the request"},
		{"nothing read", func(o *observe.Observation) bool { return o.Kind != observe.MessageDecoded }, "hands out"},
		{"no history read", func(o *observe.Observation) bool { return o.Kind != observe.EventDecoded }, "hands out"},
		{"one number for all calls", func(o *observe.Observation) bool {
			if o.Call != 0 {
				o.Call = 1
			}
			return true
		}, "after call 1"},
		{"another message", on(observe.CallEnqueueForOrchestrator, func(q *observe.CallRequest) { q.Item = engine.CancelInstanceItem{Instance: "x"} }), "the client sent"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := cluster.Run(cluster.Config{Plan: busyPlan(faults.Light()), Seed: 1, Monitor: func(w *cluster.World) cluster.Monitor {
				m := check.New(w, func(id string) bool { return id == shadowID })
				m.Add(newAccountChecker(m.Run))
				return misled{patient{m, w}, row.lie}
			}})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			if len(r.Violations) > 0 {
				found = r.Violations[0].Message
			}
			if !strings.Contains(found, row.want) || row.want == "" && found != "" {
				t.Errorf("found %q; want %q", found, row.want)
			}
		})
	}
}
