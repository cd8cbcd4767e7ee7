package oracle

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

func newStore() (*memprovider.Store, engine.Provider) {
	store := memprovider.New(memprovider.Options{StartMs: 1000})
	return store, store.Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{Node: 1, Incarnation: 1})
}

func logOf(t *testing.T, calls func(ctx context.Context, p engine.Provider)) string {
	t.Helper()
	store, p := newStore()
	var log bytes.Buffer
	r := Record(p, store.Now, &log)
	calls(t.Context(), r)
	sample.OK(t, r.Err())
	return log.String()
}

func someCalls(ctx context.Context, p engine.Provider) {
	_ = p.EnqueueForOrchestrator(ctx, startA, 0)
	f, _ := p.FetchOrchestrationItem(ctx, time.Second, 0, engine.FilterFor(engine.VersionRange{Max: engine.V(2, 0, 0)}))
	_ = p.AckOrchestrationItem(ctx, engine.OrchestrationAck{
		LockToken: f.LockToken, ExecutionID: 1, HistoryDelta: []engine.Event{{EventID: 1, InstanceID: "A", ExecutionID: 1, TimestampMs: 1000, DuroxideVersion: "1.5.0", Data: eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.0"}}},
		Metadata:            engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0"},
		WorkerItems:         []engine.WorkItem{engine.ActivityExecuteItem{Instance: "A", ExecutionID: 1, ID: 2, Name: "Act", SessionID: "s"}},
		CancelledActivities: []engine.ScheduledActivityIdentifier{{Instance: "A", ExecutionID: 1, ActivityID: 9}},
	})
	_, _ = p.FetchWorkItem(ctx, time.Second, 0, &engine.SessionFetchConfig{OwnerID: "w", LockTimeout: time.Second}, engine.TagFilter{})
	_, _ = p.Admin().GetInstanceInfo(ctx, "A")
	_, _ = p.Admin().GetInstanceInfo(ctx, "B")
}

func TestCheckLogTakesARightLog(t *testing.T) {
	log := logOf(t, someCalls)
	calls, err := CheckLog(strings.NewReader(log), Options{})
	if err != nil || calls != 6 {
		t.Errorf("%d calls, %v:\n%s", calls, err, log)
	}
}

func TestCheckLogNamesTheFirstWrongLine(t *testing.T) {
	log := logOf(t, someCalls)
	for _, c := range []struct {
		name, old, new, want string
		line                 int
		refused              bool
	}{
		{"answer", `"execution_id":1,"version":"1.0.0"`, `"execution_id":2,"version":"1.0.0"`, "the current execution is 1, got 2 [docs/contract/provider.md#p5.2, I9]", 2, true},
		{"lost effect", `"session_id":"s"`, `"session_id":"other"`, "no such row is in the queue", 4, true},
		{"method", `"get_instance_info"`, `"get_instance"`, `unknown method "get_instance"`, 5, false},
		{"code", `{"code":2`, `{"code":4`, "error.code: want 1 (retryable), 2 (permanent) or 3 (not supported), got 4", 6, false},
		{"field", `"lock_timeout_ms"`, `"lock_timeout"`, `unknown field "lock_timeout"`, 2, false},
		{"cut off", "null}\n", "null\n", "not an entry of a log", 1, false},
		{"overlap", `{"began":3`, `{"began":1`, "the call began before the one above it ended", 2, false},
		{"negative time", `"at_ms":1000`, `"at_ms":-5`, "at_ms: want a time that is not negative, got -5", 1, false},
		{"time", `"at_ms":1000`, `"at_ms":2000`, "time goes back", 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 1
			if c.name == "lost effect" {
				n = strings.Count(log, c.old) - 1 // the place where it is scheduled, not where it is fetched
			}
			wrong := strings.Replace(log, c.old, c.new, n)
			if wrong == log {
				t.Fatalf("no %s in\n%s", c.old, log)
			}
			_, err := CheckLog(strings.NewReader(wrong), Options{})
			var e *LogError
			if !errors.As(err, &e) || e.Line != c.line || (e.Refusal != nil) != c.refused || !strings.Contains(err.Error(), c.want) {
				t.Errorf("expected %q in line %d, got: %v", c.want, c.line, err)
			}
		})
	}
}

func TestRecordTellsWhatItCannotWrite(t *testing.T) {
	store, p := newStore()
	r := Record(p, store.Now, (*os.File)(nil))
	_ = r.EnqueueForOrchestrator(t.Context(), startA, 0)
	if err := r.Err(); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func TestRecordLeavesOutMethodsThatAreNotThere(t *testing.T) {
	var log bytes.Buffer
	_, err := Record(struct{ engine.Provider }{}, func() int64 { return 0 }, &log).GetKVValue(t.Context(), "A", "k")
	line := log.String()
	if calls, wrong := CheckLog(&log, Options{}); !errors.Is(err, engine.ErrUnsupported) || !strings.Contains(line, `"code":3`) || calls != 0 || wrong != nil {
		t.Errorf("%v, %d calls, %v: %s", err, calls, wrong, line)
	}
}

// TestWatchedProvidersAnswerAsBefore checks that an error passes through a watcher unchanged.
func TestWatchedProvidersAnswerAsBefore(t *testing.T) {
	store, p := newStore()
	err := Watch(p, "", store.Now, func(Exchange) {}).AckWorkItem(t.Context(), "w9", nil)
	var e *engine.ProviderError
	if !errors.As(err, &e) || e.Operation != "ack_work_item" || e.Retryable {
		t.Errorf("%#v", err)
	}
}
