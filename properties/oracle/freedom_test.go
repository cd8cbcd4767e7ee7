package oracle

import (
	"regexp"
	"slices"
	"testing"

	"github.com/durosim/durosim/engine"
)

// ids are the freedoms of docs/contract/provider.md#p10.
func ids() []Freedom {
	return []Freedom{
		"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "F13", "F14", "F15", "F16", "F17", "F18", "F19", "F20", "F21",
		"F22", "F23", "F24", "F25", "F26", "F27", "F28",
	}
}

func TestFreedomsAreThe28(t *testing.T) {
	var listed []Freedom
	for _, f := range Freedoms() {
		if regexp.MustCompile(`^F\d+$`).MatchString(string(f.ID)) {
			listed = append(listed, f.ID)
		}
		if f.Summary == "" || f.Branch == "" {
			t.Errorf("%s has no summary or no branch", f.ID)
		}
		if _, ok := freedomCases[f.ID]; !ok {
			t.Errorf("%s has no case below", f.ID)
		}
	}
	if !slices.Equal(listed, ids()) {
		t.Errorf("the table has %v", listed)
	}
	if len(freedomCases) != len(Freedoms()) {
		t.Errorf("%d cases for %d freedoms", len(freedomCases), len(Freedoms()))
	}
}

// freedomCase is a script that ends with an answer that only the freedom allows, and if the freedom is always granted,
// an answer near it that is wrong all the same.
type freedomCase struct {
	prepare func(s *script)
	args    Args
	legal   Answer
	always  bool
	wrong   Answer
}

// TestEachFreedomIsABranch sees that the awkward answer is allowed, and refused from whoever is denied the freedom.
func TestEachFreedomIsABranch(t *testing.T) {
	for _, f := range Freedoms() {
		t.Run(string(f.ID), func(t *testing.T) {
			c := freedomCases[f.ID]
			alone := []Freedom{F5Contention} // scripts are of one caller
			if f.ID == F5Contention || f.ID == F22BulkAtomicity {
				alone = nil
			}
			granted := newScript(t, Options{Deny: alone})
			c.prepare(granted)
			granted.says(c.args, c.legal)
			if c.always {
				s := newScript(t, Options{Deny: append(alone, f.ID)})
				c.prepare(s)
				s.says(c.args, c.legal) // it cannot be denied
				s = newScript(t, Options{})
				c.prepare(s)
				s.refused(c.args, c.wrong)
				return
			}
			denied := newScript(t, Options{Deny: append(alone, f.ID)})
			c.prepare(denied)
			denied.refused(c.args, c.legal)
		})
	}
}

var startB = engine.StartItem{Instance: "B", Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}

// of changes the instance of a delivery.
func of(instance string) func(f *Fetched) { return func(f *Fetched) { f.Instance = instance } }

var freedomCases = map[Freedom]freedomCase{
	F1AnyInstance: {
		prepare: func(s *script) { s.ok(send(startA)).ok(send(startB)) },
		args:    fetchAny(), legal: item("o1", 1, startB).with(of("B")),
	},
	F2TokenText: {
		prepare: func(s *script) { s.ok(send(startA)) }, always: true,
		args: fetchAny(), legal: item("any text, even this", 1, startA), wrong: item("", 1, startA),
	},
	F3Polling: {
		prepare: func(s *script) { s.ok(sendLater(startA, 50)); s.at = Between(1000, 1100) }, always: true,
		args: FetchOrchestrationItem{LockTimeoutMs: 1000, PollTimeoutMs: 100}, legal: item("o1", 1, startA), wrong: item("o1", 2, startA),
	},
	F4OrphanStops: {
		prepare: func(s *script) { s.ok(send(queueA)).ok(send(startB)) },
		args:    fetchAny(), legal: Answer{},
	},
	F5Contention: {
		prepare: func(s *script) { s.ok(send(startA)) },
		args:    fetchAny(), legal: Answer{},
	},
	F6Depths: {
		prepare: func(s *script) {
			s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000)
		},
		args: GetQueueDepths{}, legal: Answer{Depths: &engine.QueueDepths{}},
	},
	F7DuplicateAppend: {
		prepare: func(s *script) {
			s.ok(AppendWithExecution{"A", 1, Events{event(2, engine.ActivityScheduled{Name: "x"})}})
		},
		args: AppendWithExecution{"A", 1, Events{event(2, engine.ActivityScheduled{Name: "y"})}}, legal: Answer{},
	},
	F8ExpiredAbandon: {
		prepare: func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000) },
		args:    AbandonOrchestrationItem{Token: "o1"}, legal: permit,
	},
	F9AbandonScope: {
		prepare: func(s *script) {
			s.created(nil).ok(send(pokeA)).says(fetchAny(), item("o1", 1, pokeA)).ok(send(pokeA)).ok(AbandonOrchestrationItem{"o1", 500, false})
		},
		args: fetchAny(), legal: Answer{},
	},
	F10Texts: {
		prepare: func(s *script) {}, always: true,
		args: AckOrchestrationItem{Token: "o1", ExecutionID: 1}, legal: Answer{Err: &ErrorAnswer{Message: "oh, that is an invalid lock token"}},
		wrong: Answer{Err: &ErrorAnswer{Message: "no"}},
	},
	F11Order: {
		prepare: func(s *script) {
			s.created(nil).ok(send(startB)).says(fetchAny(), item("o2", 1, startB).with(of("B"))).ok(ackOf1("o2", named))
		}, always: true,
		args: ListInstances{}, legal: Answer{IDs: []string{"B", "A"}}, wrong: Answer{IDs: []string{"B"}},
	},
	F12Times: {
		prepare: func(s *script) { s.created(nil) }, always: true,
		args:  GetInstanceInfo{"A"},
		legal: Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", CurrentExecutionID: 1, Status: "Running", CreatedAt: 42}},
		wrong: Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", CurrentExecutionID: 2, Status: "Running"}},
	},
	F13ErrorContext: {
		prepare: func(s *script) {
			s.created(func(a *AckOrchestrationItem) {
				a.HistoryDelta = Events{event(1, engine.OrchestrationStarted{Name: "Orch"})}
			})
			s.ok(CorruptEvent{"A", 1, 1}).ok(send(pokeA))
		}, always: true,
		args: fetchAny(), legal: item("o2", 1, pokeA).with(func(f *Fetched) { f.HistoryError = "whatever"; f.KVSnapshot = []engine.KVEntry{{Key: "x"}} }),
		wrong: item("o2", 1, pokeA),
	},
	F14RowlessContext: {
		prepare: func(s *script) {
			s.created(func(a *AckOrchestrationItem) {
				a.Metadata, a.HistoryDelta = Metadata{}, Events{event(1, engine.OrchestrationStarted{Name: "Orch", Version: "1.0.0"})}
			}).ok(send(pokeA))
		},
		args: fetchAny(), legal: item("o2", 1, pokeA).with(func(f *Fetched) {
			f.OrchestrationName, f.Version, f.History = "other", "9.9.9", Events{event(1, engine.OrchestrationStarted{Name: "Orch", Version: "1.0.0"})}
		}),
	},
	F15DeletedCount: {
		prepare: func(s *script) { s.created(nil) },
		args:    DeleteInstancesAtomic{[]string{"A", "ghost", "A"}, true}, legal: Answer{Deleted: &engine.DeleteInstanceResult{InstancesDeleted: 3, ExecutionsDeleted: 1}},
	},
	F16UnknownStatus: {
		// No call leaves a current execution without a row, so no answer can need this freedom.
		prepare: func(s *script) {
			s.o.states = []*State{{instances: []*instance{{id: "A", row: true, name: "Orch", current: 1}}}}
		},
		args: GetInstanceInfo{"A"}, legal: Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "unknown", CurrentExecutionID: 1, Status: "Unknown"}},
	},
	F17MisKinded: {
		prepare: func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)) },
		args:    AckOrchestrationItem{Token: "o1", ExecutionID: 1, WorkerItems: Items{pokeA}}, legal: permit,
	},
	F18RunningStamp: {
		prepare: func(s *script) { s.created(func(a *AckOrchestrationItem) { a.Metadata.Status = engine.StatusRunning }) },
		args:    GetExecutionInfo{"A", 1}, legal: Answer{Execution: &engine.ExecutionInfo{ExecutionID: 1, Status: engine.StatusRunning}},
	},
	F19Bytes: {
		prepare: func(s *script) {
			s.created(func(a *AckOrchestrationItem) { a.HistoryDelta = Events{event(2, engine.ActivityScheduled{Name: "x"})} })
		},
		args: GetInstanceStats{"A"}, legal: Answer{Stats: &engine.SystemStats{HistoryEventCount: 1, HistorySizeBytes: 7}},
	},
	F20HalfNamed: {
		prepare: func(s *script) { s.created(func(a *AckOrchestrationItem) { a.Metadata.OrchestrationVersion = "" }) },
		args:    ListInstances{}, legal: Answer{IDs: []string{"A"}},
	},
	F21MissingParent: {
		prepare: func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)) },
		args:    ackOf1("o1", Metadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", ParentInstanceID: "ghost"}), legal: permit,
	},
	F22BulkAtomicity: {
		prepare: func(s *script) {
			s.created(func(a *AckOrchestrationItem) { a.Metadata.Status = engine.StatusFailed }).says(DeleteInstanceBulk{}, busy)
		},
		args: ListInstances{}, legal: Answer{},
	},
	F23Packed: {
		prepare: func(s *script) {
			s.created(func(a *AckOrchestrationItem) { a.Metadata.PinnedVersion = &engine.Version{Major: 1, Minor: 1000} }).ok(send(pokeA))
		},
		args:  FetchOrchestrationItem{LockTimeoutMs: 1000, Filter: &Filter{[]engine.VersionRange{{Min: engine.V(2, 0, 0), Max: engine.V(2, 0, 0)}}}},
		legal: item("o2", 1, pokeA),
	},
	F24DuringFetch: {
		prepare: func(s *script) { s.ok(send(startA)).ok(sendLater(pokeA, 50)); s.at = Between(1000, 1100) }, always: true,
		args: fetchAny(), legal: item("o1", 1, startA), wrong: item("o1", 1, pokeA),
	},
	F25Redelivered: {
		prepare: func(s *script) {
			s.ok(sendWork(activityOf(2, "", ""))).ok(sendWork(activityOf(3, "", "")))
			s.says(fetchWorkAny(), took("w1", 1, activityOf(2, "", ""))).ok(AbandonWorkItem{Token: "w1"})
		},
		args: fetchWorkAny(), legal: took("w2", 1, activityOf(3, "", "")),
	},
	F26ShorterSession: {
		prepare: func(s *script) {
			s.ok(sendWork(activityOf(2, "s", ""))).ok(sendWork(activityOf(3, "s", ""))).ok(sendWork(activityOf(4, "s", "")))
			s.says(fetchWorkBy("w1", 5000), took("w1", 1, activityOf(2, "s", "")))
			s.says(fetchWorkBy("w1", 500), took("w2", 1, activityOf(3, "s", ""))).time(2000)
		},
		args: fetchWorkBy("w2", 500), legal: Answer{},
	},
	F27LateTouch: {
		prepare: func(s *script) {
			s.ok(sendWork(activityOf(2, "s", ""))).ok(sendWork(activityOf(3, "s", "")))
			first := fetchWorkBy("w1", 100)
			first.LockTimeoutMs = 9000
			s.says(first, took("w1", 1, activityOf(2, "s", ""))).time(1200)
			s.says(fetchWorkBy("w2", 9000), took("w2", 1, activityOf(3, "s", ""))).time(2000)
			s.ok(AckWorkItem{Token: "w1"}).time(2300)
		},
		args: RenewSessionLock{[]string{"w2"}, 1000, 500}, legal: Answer{Count: 1},
	},
	F28SurvivingWork: {
		prepare: func(s *script) {
			s.created(func(a *AckOrchestrationItem) { a.WorkerItems = Items{activityOf(2, "", "")} })
		},
		args: DeleteInstance{"A", true}, legal: Answer{Deleted: &engine.DeleteInstanceResult{InstancesDeleted: 1, ExecutionsDeleted: 1}},
	},
	XOrphanBeforeStart: {
		prepare: func(s *script) { s.ok(send(queueA)).ok(sendLater(startA, 500)).ok(fetchAny()).time(1500) },
		args:    fetchAny(), legal: item("o1", 1, startA),
	},
	XUndecodableRow: {
		prepare: func(s *script) { s.ok(sendWork(activityOf(2, "", ""))).ok(CorruptMessage{Item{activityOf(2, "", "")}}) },
		args:    fetchWorkAny(), legal: permit,
	},
	XUnknownDeleted: {
		prepare: func(s *script) { s.ok(send(startA)) },
		args:    DeleteInstancesAtomic{[]string{"A"}, true}, legal: Answer{Deleted: &engine.DeleteInstanceResult{}},
	},
	XPointerOfLateRow: {
		prepare: func(s *script) {
			s.created(func(a *AckOrchestrationItem) { a.ExecutionID, a.Metadata = 3, Metadata{} })
			s.created2()
		},
		args:  GetInstanceInfo{"A"},
		legal: Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", CurrentExecutionID: 3, Status: "Running"}},
	},
	XRowlessUndecodable: {
		prepare: func(s *script) {
			s.ok(AppendWithExecution{"A", 1, Events{event(2, engine.ActivityScheduled{Name: "x"})}}).ok(CorruptEvent{"A", 1, 2}).ok(send(pokeA))
		},
		args: fetchAny(), legal: item("o1", 1, pokeA).with(func(f *Fetched) { f.HistoryError = "cannot" }),
	},
}

// created2 is a second turn of A, as its first execution.
func (s *script) created2() *script {
	s.t.Helper()
	return s.ok(send(startA)).says(fetchAny(), item("o-second", 1, startA)).ok(ackOf1("o-second", named))
}
