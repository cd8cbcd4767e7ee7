package oracle

import (
	"fmt"
	"slices"
	"testing"

	"github.com/durosim/durosim/engine"
)

// invariantCases has for each invariant of docs/contract/provider.md#p12 a script that ends with an answer which
// violates it.
var invariantCases = []struct {
	id      string
	prepare func(s *script)
	args    Args
	wrong   Answer
}{
	{"I1", func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000) }, fetchAny(), item("o1", 2, startA)},
	{"I2", func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(1999) }, fetchAny(), item("o2", 2, startA)},
	{"I3", func(s *script) { s.ok(send(startA)).ok(send(pokeA)) }, fetchAny(), item("o1", 1, pokeA, startA)},
	{"I4", func(s *script) {
		s.created(nil).ok(send(pokeA)).says(fetchAny(), item("o1", 1, pokeA)).ok(send(queueA)).ok(ackOf1("o1", Metadata{}))
	}, fetchAny(), item("o2", 1, pokeA, queueA)},
	{"I5", func(s *script) {
		s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).ok(AbandonOrchestrationItem{Token: "o1", IgnoreAttempt: true})
	}, fetchAny(), item("o2", 2, startA)},
	{"I6", func(s *script) {
		s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).ok(send(pokeA)).ok(AbandonOrchestrationItem{Token: "o1"})
	}, fetchAny(), item("o2", 1, startA, pokeA)},
	{"I7", func(s *script) {
		s.created(func(a *AckOrchestrationItem) {
			a.HistoryDelta = Events{event(1, engine.OrchestrationStarted{Name: "Orch", Version: "1.0.0"})}
		})
	}, Read{"A"}, Answer{Events: Events{event(1, engine.OrchestrationStarted{Name: "Orch", Version: "1.0.1"})}}},
	{"I8", func(s *script) {
		s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000)
	}, ackOf1("o1", named), Answer{}},
	{"I9", func(s *script) {
		s.created(func(a *AckOrchestrationItem) { a.ExecutionID = 2 }).ok(send(pokeA))
		s.says(fetchAny(), item("o1", 1, pokeA).with(func(f *Fetched) { f.ExecutionID = 2 })).ok(ackOf1("o1", named)).ok(send(pokeA))
	}, fetchAny(), item("o2", 1, pokeA)},
	{"I10", func(s *script) { s.ok(sendLater(startA, 500)).ok(fetchAny()) }, GetQueueDepths{}, Answer{Depths: &engine.QueueDepths{}}},
	{"I11", func(s *script) {
		s.created(func(a *AckOrchestrationItem) { a.HistoryDelta = Events{event(2, engine.ActivityScheduled{})} })
		s.ok(CorruptEvent{"A", 1, 2}).ok(send(pokeA))
	}, fetchAny(), permit},
	{"I12", func(s *script) {
		s.ok(sendWork(activityOf(2, "", ""))).says(fetchWorkAny(), took("w1", 1, activityOf(2, "", ""))).ok(AckWorkItem{Token: "w1"})
	}, fetchWorkAny(), took("w2", 1, activityOf(2, "", ""))},
	{"I13", func(s *script) {
		s.ok(sendWork(activityOf(2, "s", ""))).ok(sendWork(activityOf(3, "s", "")))
		s.says(fetchWorkBy("w1", 1000), took("w1", 1, activityOf(2, "s", "")))
	}, fetchWorkBy("w2", 1000), took("w2", 1, activityOf(3, "s", ""))},
	{"I14", func(s *script) {
		s.created(func(a *AckOrchestrationItem) {
			a.HistoryDelta = Events{event(2, engine.KeyValueSet{Key: "k", Value: "v"})}
		}).ok(send(pokeA))
	}, fetchAny(), item("o1", 1, pokeA).with(func(f *Fetched) {
		f.History = Events{event(2, engine.KeyValueSet{Key: "k", Value: "v"})}
		f.KVSnapshot = []engine.KVEntry{{Key: "k", Value: "v"}}
	})},
	{"I15", func(s *script) {
		s.created(func(a *AckOrchestrationItem) {
			a.HistoryDelta = Events{event(2, engine.KeyValueSet{Key: "k", Value: "v"})}
			a.Metadata.Status = engine.StatusCompleted
		})
	}, GetKVValue{"A", "k"}, Answer{}},
	{"I16", func(s *script) {
		s.created(func(a *AckOrchestrationItem) {
			a.HistoryDelta = Events{event(2, engine.CustomStatusUpdated{}), event(3, engine.CustomStatusUpdated{})}
		})
	}, GetCustomStatus{"A", 0}, Answer{CustomStatus: &engine.CustomStatus{Version: 2}}},
	{"I17", func(s *script) {
		s.created(nil).ok(send(pokeA)).says(DeleteInstance{"A", true}, Answer{Deleted: &engine.DeleteInstanceResult{InstancesDeleted: 1, ExecutionsDeleted: 1, QueueMessagesDeleted: 1}})
	}, fetchAny(), item("o2", 1, pokeA)},
	{"I18", func(s *script) { s.created(nil) }, PruneExecutions{Instance: "A"}, Answer{Pruned: &engine.PruneResult{InstancesProcessed: 1, ExecutionsDeleted: 1}}},
	{"I19", func(s *script) {
		s.created(func(a *AckOrchestrationItem) { a.Metadata.PinnedVersion = &engine.Version{Major: 2} }).ok(send(pokeA))
	}, FetchOrchestrationItem{1000, 0, &Filter{[]engine.VersionRange{{Min: engine.V(1, 0, 0), Max: engine.V(1, 9, 9)}}}}, item("o2", 1, pokeA)},
	{"I20", func(s *script) { s.ok(send(startA)) }, ListInstances{}, Answer{IDs: []string{"A"}}},
}

// TestEachInvariantIsJudged plants a violation of each of the 20 invariants.
func TestEachInvariantIsJudged(t *testing.T) {
	for i, c := range invariantCases {
		if c.id != fmt.Sprintf("I%d", i+1) {
			t.Fatalf("case %d is of %s", i+1, c.id)
		}
		t.Run(c.id, func(t *testing.T) {
			s := newScript(t, Options{Deny: []Freedom{F5Contention}})
			c.prepare(s)
			r := s.refused(c.args, c.wrong)
			if !slices.Contains(r.Invariants(), c.id) {
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
