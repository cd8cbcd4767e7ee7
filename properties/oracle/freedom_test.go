package oracle

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/sample"
)

// ids lists the freedoms in docs/contract/provider.md#p10.
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

// freedomCase is a script whose last answer is allowed only by the freedom. If the freedom is always granted, the case
// also has a similar answer that is still wrong.
type freedomCase struct {
	prepare func(s *script)
	args    call.Call
	legal   call.Answer
	always  bool
	wrong   call.Answer
}

// TestEachFreedomIsABranch checks that the unusual answer is allowed, and that it is rejected if the freedom is denied.
func TestEachFreedomIsABranch(t *testing.T) {
	for _, f := range Freedoms() {
		t.Run(string(f.ID), func(t *testing.T) {
			c := freedomCases[f.ID]
			alone := []Freedom{f5Contention} // scripts have a single caller
			if f.ID == f5Contention || f.ID == f22BulkAtomicity {
				alone = nil
			}
			granted := newScript(t, Options{Deny: alone})
			c.prepare(granted)
			granted.says(c.args, c.legal)
			if c.always {
				if err := (Options{Deny: append(alone, f.ID)}).Check(); err == nil {
					t.Error("it can be denied")
				}
				s := newScript(t, Options{})
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

// of changes a delivery's instance.
func of(instance string) func(f *engine.OrchestrationItem) {
	return func(f *engine.OrchestrationItem) { f.Instance = instance }
}

var freedomCases = map[Freedom]freedomCase{
	f1AnyInstance: {prepare: func(s *script) { s.ok(send(startA)).ok(send(startB)) },
		args: fetchAny(), legal: with(item("o1", 1, startB), of("B"))},
	f2TokenText: {prepare: func(s *script) { s.ok(send(startA)) }, always: true,
		args: fetchAny(), legal: item("any text, even this", 1, startA), wrong: item("", 1, startA)},
	f3Polling: {prepare: func(s *script) { s.ok(sendLater(startA, 50*ms)); s.at = Between(1000, 1100) }, always: true,
		args: call.FetchOrchestrationItem{LockTimeout: 1000 * ms, PollTimeout: 100 * ms}, legal: item("o1", 1, startA), wrong: item("o1", 2, startA)},
	f4OrphanStops: {prepare: func(s *script) { s.ok(send(queueA)).ok(send(startB)) }, args: fetchAny(), legal: call.Answer{}},
	f5Contention:  {prepare: func(s *script) { s.ok(send(startA)) }, args: fetchAny(), legal: call.Answer{}},
	f6Depths: {prepare: func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000) },
		args: call.GetQueueDepths{}, legal: call.Answer{Depths: &engine.QueueDepths{}}},
	f7DuplicateAppend: {prepare: func(s *script) {
		s.ok(call.AppendWithExecution{Instance: "A", ExecutionID: 1, Events: []engine.Event{event(2, eventdata.ActivityScheduled{Name: "x"})}})
	}, args: call.AppendWithExecution{Instance: "A", ExecutionID: 1, Events: []engine.Event{event(2, eventdata.ActivityScheduled{Name: "y"})}}, legal: call.Answer{}},
	f8ExpiredAbandon: {prepare: func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)).time(2000) },
		args: call.AbandonOrchestrationItem{LockToken: "o1"}, legal: permit},
	f9AbandonScope: {prepare: func(s *script) {
		s.created(nil).ok(send(pokeA)).says(fetchAny(), item("o1", 1, pokeA)).ok(send(pokeA)).ok(call.AbandonOrchestrationItem{LockToken: "o1", Delay: 500 * ms, IgnoreAttempt: false})
	}, args: fetchAny(), legal: call.Answer{}},
	f10Texts: {prepare: func(s *script) {}, always: true,
		args: call.AckOrchestrationItem{LockToken: "o1", ExecutionID: 1}, legal: call.Answer{Err: &engine.ProviderError{Message: "oh, that is an invalid lock token"}},
		wrong: call.Answer{Err: &engine.ProviderError{Message: "no"}}},
	f11Order: {prepare: func(s *script) {
		s.created(nil).ok(send(startB)).says(fetchAny(), with(item("o2", 1, startB), of("B"))).ok(ackOf1("o2", named))
	}, always: true, args: call.ListInstances{}, legal: call.Answer{IDs: []string{"B", "A"}}, wrong: call.Answer{IDs: []string{"B"}}},
	f12Times: {prepare: func(s *script) { s.created(nil) }, always: true,
		args:  call.GetInstanceInfo{Instance: "A"},
		legal: call.Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", CurrentExecutionID: 1, Status: "Running", CreatedAt: 42}},
		wrong: call.Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", CurrentExecutionID: 2, Status: "Running"}}},
	f13ErrorContext: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = []engine.Event{event(1, eventdata.OrchestrationStarted{Name: "Orch"})}
		})
		s.ok(call.CorruptEvent{Instance: "A", ExecutionID: 1, EventID: 1}).ok(send(pokeA))
	}, always: true, args: fetchAny(), legal: with(item("o2", 1, pokeA), func(f *engine.OrchestrationItem) {
		f.HistoryError = "whatever"
		f.KVSnapshot = []engine.KVEntry{{Key: "x"}}
	}),
		wrong: item("o2", 1, pokeA)},
	f14RowlessContext: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.Metadata, a.HistoryDelta = engine.ExecutionMetadata{}, []engine.Event{event(1, eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.0"})}
		}).ok(send(pokeA))
	}, args: fetchAny(), legal: with(item("o2", 1, pokeA), func(f *engine.OrchestrationItem) {
		f.OrchestrationName, f.Version, f.History = "other", "9.9.9", []engine.Event{event(1, eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.0"})}
	})},
	f15DeletedCount: {prepare: func(s *script) { s.created(nil) },
		args: call.DeleteInstancesAtomic{Instances: []string{"A", "ghost", "A"}, Force: true}, legal: call.Answer{Deleted: &engine.DeleteInstanceResult{InstancesDeleted: 3, ExecutionsDeleted: 1}}},
	f16UnknownStatus: {
		// No call leaves a current execution without a row, so no answer can need this freedom.
		prepare: func(s *script) {
			s.o.states = []*State{{instances: []*instance{{id: "A", row: true, name: "Orch", current: 1}}}}
		},
		args: call.GetInstanceInfo{Instance: "A"}, legal: call.Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "unknown", CurrentExecutionID: 1, Status: "Unknown"}},
	},
	f17MisKinded: {prepare: func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)) },
		args: call.AckOrchestrationItem{LockToken: "o1", ExecutionID: 1, WorkerItems: []engine.WorkItem{pokeA}}},
	f18RunningStamp: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.Metadata.Status = engine.StatusCompleted }).
			ok(send(pokeA)).says(fetchAny(), item("o2", 1, pokeA)).ok(ackOf1("o2", engine.ExecutionMetadata{Status: engine.StatusRunning}))
	}, args: call.GetExecutionInfo{Instance: "A", ExecutionID: 1}, legal: call.Answer{Execution: &engine.ExecutionInfo{ExecutionID: 1, Status: engine.StatusRunning}}},
	f19Bytes: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = []engine.Event{event(2, eventdata.ActivityScheduled{Name: "x"})}
		})
	}, args: call.GetInstanceStats{Instance: "A"}, legal: call.Answer{Stats: &engine.SystemStats{HistoryEventCount: 1, HistorySizeBytes: 7}}},
	f20HalfNamed: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.Metadata.OrchestrationVersion = "" })
	}, args: call.ListInstances{}, legal: call.Answer{IDs: []string{"A"}}},
	f21MissingParent: {prepare: func(s *script) { s.ok(send(startA)).says(fetchAny(), item("o1", 1, startA)) },
		args: ackOf1("o1", engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", ParentInstanceID: "ghost"}), legal: permit},
	f22BulkAtomicity: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.Metadata.Status = engine.StatusFailed }).says(call.DeleteInstanceBulk{}, busy)
	}, args: call.ListInstances{}, legal: call.Answer{}},
	f23Packed: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.Metadata.PinnedVersion = &engine.Version{Major: 1, Minor: 1000} }).ok(send(pokeA))
	}, args: call.FetchOrchestrationItem{LockTimeout: 1000 * ms, Filter: &engine.CapabilityFilter{SupportedVersions: []engine.VersionRange{{Min: engine.V(2, 0, 0), Max: engine.V(2, 0, 0)}}}},
		legal: item("o2", 1, pokeA)},
	f24DuringFetch: {prepare: func(s *script) { s.ok(send(startA)).ok(sendLater(pokeA, 50*ms)); s.at = Between(1000, 1100) }, always: true,
		args: fetchAny(), legal: item("o1", 1, startA), wrong: item("o1", 1, pokeA)},
	f25Redelivered: {prepare: func(s *script) {
		s.ok(sendWork(activityOf(2, "", ""))).ok(sendWork(activityOf(3, "", "")))
		s.says(fetchWorkAny(), took("w1", 1, activityOf(2, "", ""))).ok(call.AbandonWorkItem{LockToken: "w1"})
	}, args: fetchWorkAny(), legal: took("w2", 1, activityOf(3, "", ""))},
	f26ShorterSession: {prepare: func(s *script) {
		s.ok(sendWork(activityOf(2, "s", ""))).ok(sendWork(activityOf(3, "s", ""))).ok(sendWork(activityOf(4, "s", "")))
		s.says(fetchWorkBy("w1", 5000*ms), took("w1", 1, activityOf(2, "s", "")))
		s.says(fetchWorkBy("w1", 500*ms), took("w2", 1, activityOf(3, "s", ""))).time(2000)
	}, args: fetchWorkBy("w2", 500*ms), legal: call.Answer{}},
	f27LateTouch: {prepare: func(s *script) {
		s.ok(sendWork(activityOf(2, "s", ""))).ok(sendWork(activityOf(3, "s", "")))
		first := fetchWorkBy("w1", 100*ms)
		first.LockTimeout = 9000 * ms
		s.says(first, took("w1", 1, activityOf(2, "s", ""))).time(1200)
		s.says(fetchWorkBy("w2", 9000*ms), took("w2", 1, activityOf(3, "s", ""))).time(2000)
		s.ok(call.AckWorkItem{LockToken: "w1"}).time(2300)
	}, args: call.RenewSessionLock{Owners: []string{"w2"}, ExtendFor: 1000 * ms, IdleTimeout: 500 * ms}, legal: call.Answer{Count: 1}},
	f28SurvivingWork: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.WorkerItems = []engine.WorkItem{activityOf(2, "", "")} })
	}, args: call.DeleteInstance{Instance: "A", Force: true}, legal: call.Answer{Deleted: &engine.DeleteInstanceResult{InstancesDeleted: 1, ExecutionsDeleted: 1}}},
	xOrphanBeforeStart: {prepare: func(s *script) { s.ok(send(queueA)).ok(sendLater(startA, 500*ms)).ok(fetchAny()).time(1500) },
		args: fetchAny(), legal: item("o1", 1, startA)},
	xUndecodableRow: {prepare: func(s *script) {
		s.ok(sendWork(activityOf(2, "", ""))).ok(call.CorruptMessage{Item: activityOf(2, "", "")})
	}, args: fetchWorkAny(), legal: permit},
	xUnknownDeleted: {prepare: func(s *script) { s.ok(send(startA)) },
		args: call.DeleteInstancesAtomic{Instances: []string{"A"}, Force: true}, legal: call.Answer{Deleted: &engine.DeleteInstanceResult{}}},
	xPointerOfLateRow: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.ExecutionID, a.Metadata = 3, engine.ExecutionMetadata{} })
		s.created2()
	}, args: call.GetInstanceInfo{Instance: "A"},
		legal: call.Answer{Info: &engine.InstanceInfo{InstanceID: "A", OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", CurrentExecutionID: 3, Status: "Running"}}},
	xRowlessUndecodable: {prepare: func(s *script) {
		s.ok(call.AppendWithExecution{Instance: "A", ExecutionID: 1, Events: []engine.Event{event(2, eventdata.ActivityScheduled{Name: "x"})}}).
			ok(call.CorruptEvent{Instance: "A", ExecutionID: 1, EventID: 2}).ok(send(pokeA))
	}, args: fetchAny(), legal: with(item("o1", 1, pokeA), func(f *engine.OrchestrationItem) { f.HistoryError = "cannot" })},
	xPreRelease: {prepare: func(s *script) {
		s.created(func(a *call.AckOrchestrationItem) { a.Metadata.PinnedVersion = &engine.Version{Major: 2} }).ok(send(pokeA))
	}, args: call.FetchOrchestrationItem{LockTimeout: 1000 * ms, Filter: &engine.CapabilityFilter{SupportedVersions: []engine.VersionRange{{Max: engine.Version{Major: 2, Pre: "rc.1"}}}}},
		legal: call.Answer{}},
}

// created2 commits a second turn of A, in its first execution.
func (s *script) created2() *script {
	s.t.Helper()
	return s.ok(send(startA)).says(fetchAny(), item("o-second", 1, startA)).ok(ackOf1("o-second", named))
}

// TestFilterThatExcludes checks that a refusal says which range excludes which pin, and that a second range does not count.
func TestFilterThatExcludes(t *testing.T) {
	pinned := newScript(t, Options{}).created(func(a *call.AckOrchestrationItem) { a.Metadata.PinnedVersion = &engine.Version{Major: 2} }).ok(send(pokeA))
	one, two := engine.VersionRange{Min: engine.V(1, 0, 0), Max: engine.V(1, 9, 9)}, engine.VersionRange{Min: engine.V(2, 0, 0), Max: engine.V(3, 0, 0)}
	for _, tc := range []struct {
		ranges []engine.VersionRange
		want   string
	}{
		{nil, `instance "A" cannot be fetched at 1000 ms: a filter without ranges admits nothing, not even unpinned work`},
		{[]engine.VersionRange{one}, `instance "A" cannot be fetched at 1000 ms: the filter does not admit the pin of its current execution, 2.0.0: its range is >=1.0.0, <=1.9.9`},
		{[]engine.VersionRange{one, two}, `instance "A" cannot be fetched at 1000 ms: the filter does not admit the pin of its current execution, 2.0.0: ` +
			`of several ranges only the first counts (docs/contract/provider.md#d3), here >=1.0.0, <=1.9.9`},
	} {
		fetch := call.FetchOrchestrationItem{LockTimeout: 1000 * ms, Filter: &engine.CapabilityFilter{SupportedVersions: tc.ranges}}
		if r := pinned.refused(fetch, item("o2", 1, pokeA)); r.Objections[0].Text != tc.want {
			t.Errorf("got  %s\nwant %s", r.Objections[0].Text, tc.want)
		}
	}
}

// TestRowless checks that a refusal says which call had to drop an orphan, and why a delivered history must be empty.
func TestRowless(t *testing.T) {
	s := newScript(t, Options{}).ok(send(queueA)).ok(fetchAny()).ok(send(startA))
	stored := with(item("o1", 1, startA), func(f *engine.OrchestrationItem) { f.History = []engine.Event{event(2, eventdata.TimerCreated{})} })
	if text := s.refused(fetchAny(), item("o1", 1, queueA, startA)).Error() + s.refused(fetchAny(), stored).Error(); !strings.Contains(text, "the fetch of call 2 had to drop") || !strings.Contains(text, "then the history is empty") {
		t.Error(text)
	}
}

// TestFailingStorage checks that a refusal says on a line of its own that the storage was made to fail, and that a
// retryable error is among what is allowed.
func TestFailingStorage(t *testing.T) {
	s := newScript(t, Options{Deny: []Freedom{f5Contention}}).ok(send(startA)).says(fetchAny(), item("o1", 1, startA))
	e := Exchange{Call: ackOf1("o1", named), Answer: permit, Failing: true, At: s.at}
	r := s.o.Apply(e)
	if r == nil {
		t.Fatal("a permanent error is allowed")
	}
	for _, want := range []string{
		"\n       while the storage was made to fail\n  answered   permanent error",
		"  but        a permanent error for storage that was made to fail: the token is live and nothing is wrong with the ack",
		"  allowed    a retryable error, without effect: the storage was made to fail",
		"  allowed    success",
	} {
		if !strings.Contains(r.Error(), want) {
			t.Errorf("no %q in\n%v", want, r)
		}
	}
	if e.Answer = busy; s.o.Apply(e) != nil {
		t.Error("a retryable error is refused")
	}
}

// TestFreedomsMeet checks that if there are two reasons to fail, either may be reported, and that a freedom for two
// lists applies to each list separately.
func TestFreedomsMeet(t *testing.T) {
	orphan := engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", ParentInstanceID: "ghost"}
	fetched := func() *script {
		return newScript(t, Options{Deny: []Freedom{f5Contention}}).ok(send(startA)).says(fetchAny(), item("o1", 1, startA))
	}
	taken := ackOf1("o1", orphan)
	taken.HistoryDelta = []engine.Event{event(2, eventdata.ActivityScheduled{}), event(2, eventdata.ActivityScheduled{})}
	fetched().says(taken, busy)   // the missing parent (F21)
	fetched().says(taken, permit) // the event id
	fetched().refused(taken, call.Answer{})

	mixed := ackOf1("o1", named)
	mixed.WorkerItems, mixed.OrchestratorItems = []engine.WorkItem{pokeA}, []engine.WorkItem{activityOf(2, "", "")}
	for depths, stored := range map[engine.QueueDepths]string{
		{}:                                     "neither",
		{WorkerQueue: 1}:                       "the message in the worker queue",
		{OrchestratorQueue: 1}:                 "the activity in the orchestrator queue",
		{OrchestratorQueue: 1, WorkerQueue: 1}: "both",
	} {
		if r := fetched().ok(mixed).o.Apply(Exchange{Call: call.GetQueueDepths{}, Answer: call.Answer{Depths: &depths}, At: At(1000)}); r != nil {
			t.Errorf("storing %s: %v", stored, r)
		}
	}
}

// TestDenied checks which releases deny a freedom.
func TestDenied(t *testing.T) {
	if list, err := Denied(""); err != nil || len(list) > 0 {
		t.Errorf("without a release: %v, %v", list, err)
	}
	if list, err := Denied("0.0.1"); err == nil {
		t.Errorf("of a release that there is not: %v", list)
	}
	for _, c := range engine.Contracts() {
		if list, err := Denied(c.Release); err != nil || slices.Contains(list, f9AbandonScope) != c.AbandonsBatch {
			t.Errorf("%s: %v, %v", c.Release, list, err)
		}
	}
}

func TestUnknownFreedom(t *testing.T) {
	sample.Panics(t, `oracle: Options.Deny: there is no freedom "F99"`, func() { New(Options{Deny: []Freedom{"F9", "F99"}}) })
}
