package memprovider_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/bugs"
	"github.com/durosim/durosim/memprovider"
)

// bigAck is an ack with an effect in every step: it consumes two messages, starts execution 2 and cancels what is held.
const bigAck = "ack t exec=2 events=OS1,2 name=Other@2.0.0 parent=p pin=2.0.0 status=Completed output=x " +
	"work=act:A:7,act:new:8 cancel=A:1,A:7 send=ext:A:c,timer:other:5000"

// beforeBigAck leads to it.
const beforeBigAck = `
	make A pin=1.0.0 work=act:A:1
	work w -> A:1 x1
	send ext:A:a
	send ext:A:b
	fetch t -> A#1 x1 [ext:a ext:b]
	send ext:A:late`

// errStorage is an injected failure.
var errStorage = errors.New("storage is busy")

func TestFailedAckChangesNothing(t *testing.T) {
	for _, instance := range []struct{ name, before, ack string }{
		{"known instance", beforeBigAck, bigAck},
		{"new instance", "send start:A\nfetch t -> A#1 x1 [start]", strings.ReplaceAll(bigAck, "exec=2", "exec=1")},
	} {
		for step := memprovider.AckStep(0); int(step) < memprovider.AckSteps; step++ {
			t.Run(instance.name+" before "+step.String(), func(t *testing.T) {
				failing := false
				w := newWorld(memprovider.Options{BeforeAckStep: func(_ uint64, at memprovider.AckStep) error {
					if failing && at == step {
						return errStorage
					}
					return nil
				}})
				checkScript(t, w, instance.before)
				before, next := w.store.Snapshot(), w.store.NextOrchestration(nil)
				w.seen.lines = nil
				failing = true
				checkScript(t, w, instance.ack+" -> retryable")
				if diff := cmp.Diff(before, w.store.Snapshot()); diff != "" {
					t.Errorf("the ack left something: -before +after\n%s", diff)
				}
				if diff := cmp.Diff(next, w.store.NextOrchestration(nil)); diff != "" {
					t.Errorf("eligibility changed: -before +after\n%s", diff)
				}
				checkMirrored(t, w.seen.lines)
				failing = false
				checkScript(t, w, instance.ack)
			})
		}
	}
}

// TestRewritingAckIsTakenBackToo: even an ack with a seeded bug takes back all it did.
func TestRewritingAckIsTakenBackToo(t *testing.T) {
	w := newWorld(memprovider.Options{
		Rules: memprovider.RulesWith(bugs.New("provider/ack-re-encodes")),
		BeforeAckStep: func(_ uint64, at memprovider.AckStep) error {
			if at == memprovider.AckEnqueueWork {
				return engine.Permanentf("test", "no")
			}
			return nil
		},
	})
	data, _ := build("2.0.0").Codec.AppendEvent(nil, startedEvent(1))
	if err := w.store.Seed(memprovider.SeedInstance{Instance: "A", Orchestration: "TestOrch", Version: "1.0.0",
		Executions: []memprovider.SeedExecution{{ID: 1, Events: []memprovider.SeedEvent{{ID: 1, Data: append(data, ' ')}}}}}); err != nil {
		t.Fatal(err)
	}
	checkScript(t, w, "send ext:A:e\nfetch t -> A#1 x1 [ext:e]")
	before := w.store.Snapshot()
	checkScript(t, w, "ack t events=2 -> perm")
	if diff := cmp.Diff(before, w.store.Snapshot()); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
}

// checkMirrored checks that the second half of the observations takes back the first half, last change first.
func checkMirrored(t *testing.T, lines []string) {
	t.Helper()
	opposite := map[string]string{ // looked up only
		"row inserted": "row removed", "row removed": "row restored", "lock released": "lock taken",
		"execution created": "execution removed", "event appended": "event removed", "instance created": "instance removed",
	}
	half := 0
	for half < len(lines) && !strings.HasPrefix(lines[half], "undo ") {
		half++
	}
	var want, got []string
	for _, line := range lines[:half] {
		want = append(want, kindOf(opposite, line))
	}
	slices.Reverse(want)
	for _, line := range lines[half:] {
		got = append(got, kindOf(nil, strings.TrimPrefix(line, "undo ")))
	}
	if len(got) != len(want) {
		t.Errorf("%d changes, %d taken back:\n%s", len(want), len(got), strings.Join(lines, "\n"))
		return
	}
	for i := range want {
		renamed := want[i] == "instance removed" && got[i] == "instance created" // the row was there
		if want[i] != got[i] && !renamed {
			t.Errorf("change taken back as %q, want %q", got[i], want[i])
		}
	}
}

// kindOf is the kind of a line without its number, or the opposite that the table has for it.
func kindOf(opposite map[string]string, line string) string {
	kind := strings.TrimRight(line, " 0123456789")
	if o, ok := opposite[kind]; ok {
		return o
	}
	return kind
}

func TestRefusedAckChangesNothing(t *testing.T) {
	for _, c := range []struct{ name, ack string }{
		{"duplicate event", "ack t exec=1 events=5,1 work=act:A:9 send=ext:A:x cancel=A:1 pin=9.0.0 status=Completed"},
		{"event twice", "ack t exec=2 events=5,5 status=Completed"},
		{"event id zero", "ack t events=0"},
		{"execution zero", "ack t exec=0 events=5"},
		{"activity in the wrong list", "ack t events=5 send=act:A:1"},
		{"message in the wrong list", "ack t events=5 work=ext:A:1"},
		{"session", "ack t events=5 work=session:A:1"},
		{"unknown token", "ack o99 events=5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(memprovider.Options{})
			checkScript(t, w, beforeBigAck)
			before := w.store.Snapshot()
			w.seen.lines = nil
			checkScript(t, w, c.ack+" -> perm")
			if diff := cmp.Diff(before, w.store.Snapshot()); diff != "" || w.seen.lines != nil {
				t.Errorf("observed %v; -before +after\n%s", w.seen.lines, diff)
			}
			checkScript(t, w, bigAck)
		})
	}
}

func TestUnsupportedIsRefusedBeforeAnything(t *testing.T) {
	text := "on"
	for _, data := range []engine.EventData{
		engine.CustomStatusUpdated{Status: &text}, engine.KeyValueSet{Key: "k"}, engine.KeyValueCleared{Key: "k"}, engine.KeyValuesCleared{},
	} {
		w := newWorld(memprovider.Options{})
		checkScript(t, w, beforeBigAck)
		before := w.store.Snapshot()
		err := w.AckOrchestrationItem(ctx, engine.OrchestrationAck{
			LockToken: w.token("t"), ExecutionID: 1, HistoryDelta: []engine.Event{scheduledEvent(5), {EventID: 6, Data: data}},
		})
		if err == nil || engine.IsRetryable(err) || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%s: %v", data.Kind(), err)
		}
		if diff := cmp.Diff(before, w.store.Snapshot()); diff != "" {
			t.Errorf("-before +after\n%s", diff)
		}
	}
}

func TestUnsupportedCalls(t *testing.T) {
	w := newWorld(memprovider.Options{})
	session := &engine.SessionFetchConfig{OwnerID: "o"}
	calls := []struct {
		name string
		call func() error
	}{
		{"session work", func() error {
			return w.EnqueueForWorker(ctx, engine.ActivityExecuteItem{Instance: "A", ID: 1, SessionID: "s"})
		}},
		{"session fetch", func() error { _, err := w.FetchWorkItem(ctx, 0, 0, session, engine.TagFilter{}); return err }},
		{"renew sessions", func() error { _, err := w.RenewSessionLock(ctx, nil, 0, 0); return err }},
		{"clean sessions", func() error { _, err := w.CleanupOrphanedSessions(ctx, 0); return err }},
		{"custom status", func() error { _, err := w.GetCustomStatus(ctx, "A", 0); return err }},
		{"kv value", func() error { _, err := w.GetKVValue(ctx, "A", "k"); return err }},
		{"kv values", func() error { _, err := w.GetKVAllValues(ctx, "A"); return err }},
		{"stats", func() error { _, err := w.GetInstanceStats(ctx, "A"); return err }},
		{"delete", func() error { _, err := w.DeleteInstance(ctx, "A", true); return err }},
		{"delete atomic", func() error { _, err := w.DeleteInstancesAtomic(ctx, nil, true); return err }},
		{"delete bulk", func() error { _, err := w.DeleteInstanceBulk(ctx, engine.InstanceFilter{}); return err }},
		{"prune", func() error { _, err := w.PruneExecutions(ctx, "A", engine.PruneOptions{}); return err }},
		{"prune bulk", func() error {
			_, err := w.PruneExecutionsBulk(ctx, engine.InstanceFilter{}, engine.PruneOptions{})
			return err
		}},
	}
	for _, c := range calls {
		if err := c.call(); !errors.Is(err, engine.ErrPermanent) || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if diff := cmp.Diff(&memprovider.Snapshot{}, w.store.Snapshot()); diff != "" {
		t.Errorf("a refused call left something: %s", diff)
	}
	if e := w.store.NextWork(session, engine.TagFilter{}); e.Now {
		t.Error("a session fetch would find something")
	}
}
