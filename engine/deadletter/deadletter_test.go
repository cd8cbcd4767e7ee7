package deadletter_test

import (
	"context"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// world has a store with a dead-letter policy of 10 s, an outsider that calls the store, and the handle of a node whose
// range goes up to 1.5.0.
type world struct {
	t     *testing.T
	store *memprovider.Store
	queue *deadletter.Queue
	out   engine.Provider
	node  engine.Provider
	ms    int64
}

func newWorld(t *testing.T, rules *deadletter.Rules) *world {
	w := &world{t: t, ms: 1_000_000}
	codec := engine.ShippedBuilds()[0].Codec
	w.store = memprovider.New(memprovider.Options{StartMs: w.ms})
	w.out = w.store.Handle(codec, observe.Caller{})
	w.queue = deadletter.New(deadletter.Options{After: 10 * time.Second, Now: func() int64 { return w.ms }, Version: engine.V(2, 0, 0), Rules: rules})
	w.node = w.queue.Watch(w.store.Handle(codec, observe.Caller{Node: 1, Incarnation: 1}))
	return w
}

// waiting creates a waiting instance with the given pin, as a child of boss, and enqueues an event for it.
func (w *world) waiting(id string, pin engine.Version) { w.waitingOf("boss", id, pin) }

func (w *world) waitingOf(parent, id string, pin engine.Version) {
	w.t.Helper()
	ctx := context.Background()
	w.must(w.out.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: id, Orchestration: "O", ExecutionID: 1, ParentInstance: parent, ParentExecutionID: 1, ParentID: 2}, 0))
	unpinned := engine.FilterFor(engine.VersionRange{Min: engine.V(0, 0, 1), Max: engine.V(0, 0, 1)})
	f, err := w.out.FetchOrchestrationItem(ctx, time.Second, 0, unpinned)
	w.must(err)
	w.must(w.out.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1,
		HistoryDelta: []engine.Event{{EventID: 1, InstanceID: id, ExecutionID: 1, DuroxideVersion: pin.String(), Data: eventdata.OrchestrationStarted{Name: "O", Version: "1.0.0"}}},
		Metadata:     engine.ExecutionMetadata{OrchestrationName: "O", OrchestrationVersion: "1.0.0", PinnedVersion: &pin, ParentInstanceID: parent, ParentExecutionID: 1, ParentEventID: 2}}))
	w.must(w.out.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: id, Name: "go"}, 0))
}

func (w *world) must(err error) {
	w.t.Helper()
	sample.OK(w.t, err)
}

// fetch makes the node fetch, and returns the instance delivered and its attempt count.
func (w *world) fetch() (string, uint32) {
	w.t.Helper()
	upTo := engine.VersionRange{Max: engine.V(1, 5, 0)}
	f, err := w.node.FetchOrchestrationItem(context.Background(), time.Second, 0, engine.FilterFor(upTo))
	w.must(err)
	if f == nil {
		return "", 0
	}
	w.must(w.node.AbandonOrchestrationItem(context.Background(), f.LockToken, 0, true))
	return f.Item.Instance, f.AttemptCount
}

// look lets the given time pass and then runs a sweep. It returns how many instances the policy has ended so far.
func (w *world) look(after time.Duration) int {
	w.ms += after.Milliseconds()
	w.store.SetNow(w.ms)
	w.queue.Sweep(context.Background(), w.out)
	return len(w.queue.Messages())
}

// TestEndsWhatNobodyFetches checks that work that no fetch admits ends once it has been blocked for long enough, and
// that its parent is notified. Work that some fetch admits does not end, however slow the nodes are.
func TestEndsWhatNobodyFetches(t *testing.T) {
	w := newWorld(t, nil)
	w.waiting("new", engine.V(2, 0, 0))
	w.waiting("old", engine.V(1, 0, 0))
	w.must(w.out.EnqueueForOrchestrator(context.Background(), engine.StartItem{Instance: "new", Orchestration: "O", ExecutionID: 1, ParentInstance: "other", ParentExecutionID: 1, ParentID: 2}, 0))
	w.fetch()
	for range 2 {
		if n := w.look(5 * time.Second); n != 0 {
			t.Fatalf("%d messages after less than 10 s", n)
		}
		w.fetch()
	}
	if n := w.look(5 * time.Second); n != 1 {
		t.Fatalf("%d messages after 10 s: expected that of new", n)
	}
	message := w.queue.Messages()[0]
	if message.Instance != "new" || len(message.Messages) != 2 || message.Cause != "dead letter: blocked for 10s, since no fetch admits its pin 2.0.0" {
		t.Errorf("message %+v", message)
	}
	if p, _ := w.store.Peek("new"); p.Status != engine.StatusFailed {
		t.Errorf("new is %s", p.Status)
	}
	for _, parent := range []string{"boss", "other"} { // other asked for a child under the same id
		if p, _ := w.store.Peek(parent); p.Messages != 1 {
			t.Errorf("parent %s has %d messages", parent, p.Messages)
		}
	}
	if id, count := w.fetch(); id != "old" || count != 1 {
		t.Errorf("the node gets %q at delivery %d", id, count)
	}
	// Fifteen seconds after the last fetch, no node is known to admit 1.0.0 either, so the time for it starts to run.
	if n := w.look(15 * time.Second); n != 1 {
		t.Errorf("%d messages at the first look at old", n)
	}
	// A node that comes by between two looks may have taken what the first one found.
	w.fetch()
	if n := w.look(10 * time.Second); n != 1 {
		t.Errorf("%d messages 10 s after a fetch admitted old", n)
	}
	if n := w.look(10 * time.Second); n != 2 {
		t.Errorf("%d messages after 10 s more", n)
	}
}

// TestIDUsedAgain checks that the time for which an instance was blocked does not count for the next one with its id.
func TestIDUsedAgain(t *testing.T) {
	w := newWorld(t, nil)
	w.waitingOf("", "again", engine.V(2, 0, 0))
	w.look(5 * time.Second)
	_, err := w.out.Admin().DeleteInstance(context.Background(), "again", true)
	w.must(err)
	w.waitingOf("", "again", engine.V(3, 0, 0))
	if n := w.look(11 * time.Second); n != 0 {
		t.Errorf("ended with the time of the one before: %+v", w.queue.Messages())
	}
	if n := w.look(10 * time.Second); n != 1 {
		t.Errorf("%d messages after 10 s", n)
	}
}

// TestEndsWhatContinuedUnreadably checks that an execution that has continued as new ends, too, if nobody can read the
// message that starts the next one.
func TestEndsWhatContinuedUnreadably(t *testing.T) {
	w := newWorld(t, nil)
	pin := engine.V(2, 0, 0)
	w.waiting("new", pin)
	ctx := context.Background()
	f, err := w.out.FetchOrchestrationItem(ctx, time.Second, 0, nil)
	w.must(err)
	w.must(w.out.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1,
		HistoryDelta:      []engine.Event{{EventID: 2, InstanceID: "new", ExecutionID: 1, DuroxideVersion: pin.String(), Data: eventdata.OrchestrationContinuedAsNew{}}},
		OrchestratorItems: []engine.WorkItem{engine.ContinueAsNewItem{Instance: "new", Orchestration: "O", Version: "1.0.0"}},
		Metadata:          engine.ExecutionMetadata{OrchestrationName: "O", OrchestrationVersion: "1.0.0", Status: engine.StatusContinuedAsNew}}))
	const start = 3 // the number of the message, after those of waiting
	w.must(w.store.DamageMessage(start, []byte("{")))
	w.fetch()
	for i, want := range []int{0, 0, 1} {
		if n := w.look(5 * time.Second); n != want {
			t.Fatalf("%d messages at look %d: expected %d", n, i+1, want)
		}
		w.fetch()
	}
	p, _ := w.store.Peek("new")
	if message := w.queue.Messages()[0]; message.Execution != 2 || p.Execution != 2 || p.Status != engine.StatusFailed {
		t.Errorf("message of execution %d; execution %d is %s: expected execution 2, Failed", message.Execution, p.Execution, p.Status)
	}
}

// TestEachBugShows checks that each of the policy's planted bugs changes its behaviour.
func TestEachBugShows(t *testing.T) {
	observe := func(rules *deadletter.Rules) (seen [5]int) {
		w := newWorld(t, rules)
		w.waiting("new", engine.V(2, 0, 0))
		w.fetch()
		for i, after := range []time.Duration{time.Second, time.Second, 10 * time.Second} {
			seen[i] = w.look(after)
		}
		boss, _ := w.store.Peek("boss")
		seen[3] = boss.Messages
		if f, err := w.out.FetchOrchestrationItem(context.Background(), time.Second, 0, nil); err == nil && f != nil && f.Item.Instance == "new" {
			seen[4] = int(f.AttemptCount)
		}
		return seen
	}
	right := observe(nil)
	for _, b := range faults.BugsOf("engine/deadletter") {
		tables := sample.Must(faults.NewTables(b.ID))(t)
		if wrong := observe(&tables.DeadLetters); wrong == right {
			t.Errorf("%s changes nothing: %v", b.ID, right)
		}
	}
}
