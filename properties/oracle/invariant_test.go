package oracle

import (
	"fmt"
	"slices"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// invariantCases has, for each invariant in docs/contract/provider.md#p12, a script whose last answer violates it.
var invariantCases = []struct {
	id      string
	prepare func(s *script)
	args    call.Call
	wrong   call.Answer
}{
	{"I1", func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000) }, fetchAny(), item("o1", 2, startA)},
	{"I2", func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(1999) }, fetchAny(), item("o2", 2, startA)},
	{"I3", func(s *script) { s.ok(send(startA)).ok(send(pokeA)) }, fetchAny(), item("o1", 1, pokeA, startA)},
	{"I4", func(s *script) {
		s.created(nil).ok(send(pokeA)).says(fetchAny(), item("o1", 1, pokeA)).ok(send(queueA)).ok(ackOf1("o1", engine.ExecutionMetadata{}))
	}, fetchAny(), item("o2", 1, pokeA, queueA)},
	{"I5", func(s *script) {
		s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).ok(call.AbandonOrchestrationItem{LockToken: "o1", IgnoreAttempt: true})
	}, fetchAny(), item("o2", 2, startA)},
	{"I6", func(s *script) {
		s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).ok(send(pokeA)).ok(call.AbandonOrchestrationItem{LockToken: "o1"})
	}, fetchAny(), item("o2", 1, startA, pokeA)},
	{"I7", func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = []engine.Event{event(1, eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.0"})}
		})
	}, call.Read{Instance: "A"}, call.Answer{Events: []engine.Event{event(1, eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.1"})}}},
	{"I8", func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000) }, ackOf1("o1", named), call.Answer{}},
	{"I9", func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.ExecutionID = 2 }).ok(send(pokeA))
		s.says(fetchAny(), with(item("o1", 1, pokeA), func(f *engine.OrchestrationItem) { f.ExecutionID = 2 })).ok(ackOf1("o1", named)).ok(send(pokeA))
	}, fetchAny(), item("o2", 1, pokeA)},
	{"I10", func(s *script) { s.ok(sendLater(startA, 500*ms)).ok(fetchAny()) }, call.GetQueueDepths{}, call.Answer{Depths: &engine.QueueDepths{}}},
	{"I11", func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = []engine.Event{event(2, eventdata.ActivityScheduled{})}
		})
		s.ok(call.CorruptEvent{Instance: "A", ExecutionID: 1, EventID: 2}).ok(send(pokeA))
	}, fetchAny(), permit},
	{"I12", func(s *script) {
		s.ok(sendWork(activityOf(2, "", ""))).says(fetchWorkAny(), took("w1", 1, activityOf(2, "", ""))).ok(call.AckWorkItem{LockToken: "w1"})
	}, fetchWorkAny(), took("w2", 1, activityOf(2, "", ""))},
	{"I13", func(s *script) {
		s.ok(sendWork(activityOf(2, "s", ""))).ok(sendWork(activityOf(3, "s", "")))
		s.says(fetchWorkBy("w1", 1000*ms), took("w1", 1, activityOf(2, "s", "")))
	}, fetchWorkBy("w2", 1000*ms), took("w2", 1, activityOf(3, "s", ""))},
	{"I14", func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = []engine.Event{event(2, eventdata.KeyValueSet{Key: "k", Value: "v"})}
		}).ok(send(pokeA))
	}, fetchAny(), with(item("o1", 1, pokeA), func(f *engine.OrchestrationItem) {
		f.History = []engine.Event{event(2, eventdata.KeyValueSet{Key: "k", Value: "v"})}
		f.KVSnapshot = []engine.KVEntry{{Key: "k", Value: "v"}}
	})},
	{"I15", func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = []engine.Event{event(2, eventdata.KeyValueSet{Key: "k", Value: "v"})}
			a.Metadata.Status = engine.StatusCompleted
		})
	}, call.GetKVValue{Instance: "A", Key: "k"}, call.Answer{}},
	{"I16", func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = []engine.Event{event(2, eventdata.CustomStatusUpdated{}), event(3, eventdata.CustomStatusUpdated{})}
		})
	}, call.GetCustomStatus{Instance: "A", LastSeen: 0}, call.Answer{CustomStatus: &engine.CustomStatus{Version: 2}}},
	{"I17", func(s *script) {
		s.created(nil).ok(send(pokeA)).says(call.DeleteInstance{Instance: "A", Force: true}, call.Answer{Deleted: &engine.DeleteInstanceResult{InstancesDeleted: 1, ExecutionsDeleted: 1, QueueMessagesDeleted: 1}})
	}, fetchAny(), item("o2", 1, pokeA)},
	{"I18", func(s *script) { s.created(nil) }, call.PruneExecutions{Instance: "A"}, call.Answer{Pruned: &engine.PruneResult{InstancesProcessed: 1, ExecutionsDeleted: 1}}},
	{"I19", func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.Metadata.PinnedVersion = &engine.Version{Major: 2} }).ok(send(pokeA))
	}, call.FetchOrchestrationItem{LockTimeout: 1000 * ms, Filter: &engine.CapabilityFilter{SupportedVersions: []engine.VersionRange{{Min: engine.V(1, 0, 0), Max: engine.V(1, 9, 9)}}}}, item("o2", 1, pokeA)},
	{"I20", func(s *script) { s.ok(send(startA)) }, call.ListInstances{}, call.Answer{IDs: []string{"A"}}},
}

// TestEachInvariantIsJudged plants a violation of each of the 20 invariants.
func TestEachInvariantIsJudged(t *testing.T) {
	for i, c := range invariantCases {
		if c.id != fmt.Sprintf("I%d", i+1) {
			t.Fatalf("case %d is of %s", i+1, c.id)
		}
		t.Run(c.id, func(t *testing.T) {
			s := newScript(t, Options{Deny: []Freedom{f5Contention}})
			c.prepare(s)
			r := s.refused(c.args, c.wrong)
			if !slices.Contains(r.invariants(), c.id) {
				t.Errorf("refused for another reason: %s", r)
			}
			if len(r.Objections) == 0 {
				t.Errorf("refused without a reason: %s", r)
			}
		})
	}
	if len(invariantCases) != 20 {
		t.Errorf("%d cases", len(invariantCases))
	}
}
