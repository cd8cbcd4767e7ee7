package memprovider_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

func TestItemTellsStatusParentAndPin(t *testing.T) {
	w := newWorld(memprovider.Options{})
	pin := engine.MustParseVersion("2.0.0-rc.1")
	_ = w.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "child", Orchestration: "TestOrch"}, 0)
	first, _ := w.FetchOrchestrationItem(ctx, time.Second, 0, nil)
	want := engine.OrchestrationItem{Instance: "child", OrchestrationName: "TestOrch", ExecutionID: 1, Version: "unknown",
		Messages: []engine.WorkItem{engine.StartItem{Instance: "child", Orchestration: "TestOrch"}}}
	if diff := cmp.Diff(want, first.Item); diff != "" {
		t.Errorf("before the first ack: -want +got\n%s", diff)
	}
	err := w.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: first.LockToken, ExecutionID: 1, HistoryDelta: []engine.Event{startedEvent(1)},
		Metadata: engine.ExecutionMetadata{OrchestrationName: "TestOrch", OrchestrationVersion: "3.0.0", PinnedVersion: &pin,
			ParentInstanceID: "p", ParentExecutionID: 4, ParentEventID: 7, Status: engine.StatusCompleted}})
	sample.OK(t, err)
	_ = w.EnqueueForOrchestrator(ctx, engine.CancelInstanceItem{Instance: "child"}, 0)
	second, _ := w.FetchOrchestrationItem(ctx, time.Second, 0, nil)
	release := engine.V(2, 0, 0)
	want = engine.OrchestrationItem{Instance: "child", OrchestrationName: "TestOrch", ExecutionID: 1, Version: "3.0.0",
		History: []engine.Event{startedEvent(1)}, Messages: []engine.WorkItem{engine.CancelInstanceItem{Instance: "child"}},
		CurrentStatus: engine.StatusCompleted, Parent: &engine.ParentLink{Instance: "p", ExecutionID: 4, EventID: 7}, Pin: &release}
	if diff := cmp.Diff(want, second.Item); diff != "" {
		t.Errorf("after it: -want +got\n%s", diff)
	}
}

// TestEachCodecDecodesOnce: a kind that a build does not know fails in its handle only, and everything is decoded once
// for each codec name.
func TestEachCodecDecodesOnce(t *testing.T) {
	log := &decodeLog{}
	store := memprovider.New(memprovider.Options{Sink: log})
	handle := func(version string, node uint32) fullHandle {
		return handleOf(store, build(version).Codec, observe.Caller{Node: node})
	}
	writer, same, old := handle("2.0.0", 1), handle("2.0.0", 2), handle("1.5.0", 3)
	fetch := func(p fullHandle) string {
		f := sample.Must(p.FetchOrchestrationItem(ctx, 0, 0, nil))(t)
		defer func() { log.lines = nil }()
		return fmt.Sprintf("%d events, %d messages, error %t: %s",
			len(f.Item.History), len(f.Item.Messages), f.Item.HistoryError != "", strings.Join(log.lines, " "))
	}
	_ = writer.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "a", Orchestration: "T"}, 0)
	f, _ := writer.FetchOrchestrationItem(ctx, time.Second, 0, nil)
	_ = writer.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1, HistoryDelta: []engine.Event{
		startedEvent(1), {EventID: 2, ExecutionID: 1, Data: eventdata.ExternalSubscribed2{Name: "n", Topic: "t"}}, scheduledEvent(3),
	}})
	_ = writer.EnqueueForOrchestrator(ctx, engine.ExternalRaised2Item{Instance: "a", Name: "n"}, 0)
	_ = writer.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "a", Name: "n"}, 0)
	log.lines = nil
	for _, c := range []struct {
		name string
		p    fullHandle
		want string
	}{
		{"writer", writer, "3 events, 2 messages, error false: m2(cached) m3(cached) e3(cached)"},
		{"same codec", same, "3 events, 2 messages, error false: m2(cached) m3(cached) e3(cached)"},
		{"old build", old, "0 events, 1 messages, error true: m2! m3 e1 e2!"},
		{"old build again", old, "0 events, 1 messages, error true: m2!(cached) m3(cached) e1(cached) e2!(cached)"},
	} {
		if diff := cmp.Diff(c.want, fetch(c.p)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// decodeLog records what was decoded: e1 is event 1, m1 message 1; ! is a failure.
type decodeLog struct{ lines []string }

func (l *decodeLog) Observe(o *observe.Observation) {
	line := ""
	switch o.Kind {
	case observe.EventDecoded:
		line = fmt.Sprintf("e%d", o.EventID)
	case observe.MessageDecoded:
		line = fmt.Sprintf("m%d", o.Message)
	default:
		return
	}
	if o.Outcome == observe.OutcomePermanent {
		line += "!"
	}
	if o.Cached {
		line += "(cached)"
	}
	l.lines = append(l.lines, line)
}

// TestHandedOutHistoryStays checks that later appends or damage do not change a history that was delivered.
func TestHandedOutHistoryStays(t *testing.T) {
	w := newWorld(memprovider.Options{})
	w.check(t, "make A events=OS1,2")
	before, _ := w.Read(ctx, "A")
	kept := fmt.Sprint(before)
	w.check(t, `
		append A 1 5
		append A 1 4
		corrupt A 1 2
		read A -> perm`)
	if diff := cmp.Diff(kept, fmt.Sprint(before)); diff != "" {
		t.Error(diff)
	}
}

func TestSeedRefuses(t *testing.T) {
	one := []memprovider.PreloadedExecution{{ID: 1}}
	for _, c := range []struct {
		name string
		seed memprovider.PreloadedInstance
		want string
	}{
		{"known", memprovider.PreloadedInstance{Instance: "A", Executions: one}, `preloaded "A": the store already has this instance`},
		{"nothing", memprovider.PreloadedInstance{Instance: "B"}, `preloaded "B": no executions`},
		{"order", memprovider.PreloadedInstance{Instance: "B", Executions: append(one, one...)}, `preloaded "B": execution 1 after 1: ids ascend from 1`},
		{"events", memprovider.PreloadedInstance{Instance: "B", Executions: []memprovider.PreloadedExecution{{ID: 1, Events: []memprovider.PreloadedEvent{{}}}}},
			`preloaded "B": event 0 after 0 of execution 1: ids ascend from 1`},
		{"current", memprovider.PreloadedInstance{Instance: "B", Current: 2, Executions: one}, `preloaded "B": current execution 2 is not listed`},
	} {
		w := newWorld(memprovider.Options{})
		w.check(t, "make A")
		if err := w.store.Preload(c.seed); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestTimeDoesNotGoBack(t *testing.T) {
	w := newWorld(memprovider.Options{})
	sample.Panics(t, "", func() { w.store.SetNow(999) })
}

// TestGenerationGrows checks that every change that makes something eligible changes the generation of its queue, and so
// of the store.
func TestGenerationGrows(t *testing.T) {
	w := newWorld(memprovider.Options{})
	last := w.store.Generation()
	orchestrations, work := w.store.QueueGeneration(observe.QueueOrchestrator), w.store.QueueGeneration(observe.QueueWorker)
	for _, line := range []string{
		"send start:A delay=100", "wait 100", "fetch t lock=1000", "renew t 2000", "wait 2000",
		"fetch t", "abandon t delay=10", "act A:1", "work w lock=10", "wait 10",
	} {
		w.Play(line)
		if w.store.Generation() == last {
			t.Errorf("%s: generation is still %d", line, last)
		}
		last = w.store.Generation()
		isWork := strings.HasPrefix(line, "act ") || strings.HasPrefix(line, "work ") || line == "wait 10"
		if o, a := w.store.QueueGeneration(observe.QueueOrchestrator), w.store.QueueGeneration(observe.QueueWorker); isWork && a == work || !isWork && o == orchestrations {
			t.Errorf("%s: the generations of the queues went from %d, %d to %d, %d", line, orchestrations, work, o, a)
		} else {
			orchestrations, work = o, a
		}
	}
}

// TestRulesOf checks that a call follows the rules of its caller, and the next one those of the store again.
func TestRulesOf(t *testing.T) {
	wrong := memprovider.DefaultRules()
	wrong.Admits = func(*engine.CapabilityFilter, *engine.Version) bool { return true }
	store := memprovider.New(memprovider.Options{RulesOf: func(c observe.Caller) *memprovider.Rules {
		if c.Node == 1 {
			return wrong
		}
		return nil
	}})
	pin := engine.V(2, 0, 0)
	sample.OK(t, store.Preload(memprovider.PreloadedInstance{Instance: "A", Orchestration: "O", Version: "1.0.0", Executions: []memprovider.PreloadedExecution{{ID: 1, Pin: &pin}}}))
	handle := func(node uint32) engine.Provider {
		return store.Handle(build("1.5.0").Codec, observe.Caller{Node: node})
	}
	sample.OK(t, handle(2).EnqueueForOrchestrator(ctx, engine.CancelInstanceItem{Instance: "A"}, 0))
	for _, tc := range []struct {
		node  uint32
		finds bool
	}{{2, false}, {1, true}, {2, false}} {
		f, err := handle(tc.node).FetchOrchestrationItem(ctx, time.Second, 0, filterOf("1.0.0..1.9.9"))
		if err != nil || (f != nil) != tc.finds {
			t.Errorf("node %d finds %v, %v; want something: %v", tc.node, f, err, tc.finds)
		}
		if f != nil {
			sample.OK(t, handle(2).AbandonOrchestrationItem(ctx, f.LockToken, 0, true))
		}
	}
}

// TestFieldsOfWork checks that an activity has no session and no tag if the build that sent it does not know these fields.
func TestFieldsOfWork(t *testing.T) {
	codec := sample.Must(engine.WithoutFields(build("2.0.0").Codec, "session", "tag"))(t)
	store := memprovider.New(memprovider.Options{})
	work := engine.ActivityExecuteItem{Instance: "a", ExecutionID: 1, ID: 2, Name: "Work", SessionID: "s", Tag: "gpu"}
	sample.OK(t, store.Handle(codec, observe.Caller{}).EnqueueForWorker(t.Context(), work))
	if row := store.PeekRows("a")[0]; row.Session != "" || row.Tag != "" {
		t.Errorf("session %q, tag %q: expected none", row.Session, row.Tag)
	}
}
