package turn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/dev/turn"
)

// busy makes almost every kind of request.
func busy(ctx *orch.Context, input string) (string, error) {
	ctx.SetCustomStatus("busy " + input)
	ctx.SetKVValue("k", "v\xff")
	ctx.SetKVValue("old", "w")
	ctx.PruneKVValuesUpdatedBefore(1)
	ctx.KVValue("k")
	_, _, _ = orch.Select(ctx.ScheduleActivity("first", "1"), ctx.ScheduleActivity("second", "2", orch.WithTag("gpu")))
	late := ctx.ScheduleTimer(time.Hour)
	child := ctx.Go(func(ctx *orch.Context) (string, error) { return ctx.ScheduleTimer(time.Second).Await() })
	ctx.StartOrchestrationVersioned("Kin", "1.2.0", "other", "in")
	_, _ = child.Await()
	message, _ := ctx.DequeueEvent("jobs").Await()
	event, _ := ctx.ScheduleWait("go").Await()
	late.Drop()
	ctx.CustomStatus()
	ctx.ScheduleWait("never").Drop()
	_, err := ctx.ScheduleSubOrchestrationVersioned("Kin", "1.2.0", "x").Await()
	if err != nil {
		return "", err
	}
	return message + event + ctx.InstanceID(), nil
}

// history computes a handler's turns, one per batch. Each batch is made from the events before it.
func history(t *testing.T, handler orch.Handler, batches ...func(schedule func(kind engine.EventKind, n int) uint64) []engine.WorkItem) (turns []judged) {
	t.Helper()
	var events []engine.Event
	for i, batch := range batches {
		messages := batch(func(kind engine.EventKind, n int) uint64 {
			for _, e := range events {
				if e.Kind() == kind {
					if n--; n == 0 {
						return e.EventID
					}
				}
			}
			t.Fatalf("turn %d: the history has no such %s", i, kind)
			return 0
		})
		j := next(t, engine.ShippedBuilds()[2], handler, i, events, messages)
		turns = append(turns, j)
		events = append(events, j.turn.Ack.HistoryDelta...)
	}
	return turns
}

// next computes a handler's turn number i.
func next(t interface {
	Helper()
	Fatal(...any)
}, build *engine.Build, handler orch.Handler, i int, events []engine.Event, messages []engine.WorkItem) judged {
	t.Helper()
	keys := []engine.KVEntry{{Key: "aged", Value: "x", LastUpdatedAtMs: 0}}
	var r asked.Recorder
	in := replay.Input{Build: build, Instance: "i", ExecutionID: 1, History: events, Messages: messages, KVSnapshot: keys,
		Handler: r.Run(handler), Watcher: &r, NowMs: uint64(1000 * (i + 1))}
	if i == 0 {
		in.Start = &replay.Start{Name: "H", Version: "1.0.0", Input: "in"}
	}
	out, err := replay.Turn(in)
	if err != nil {
		t.Fatal(err)
	}
	return judged{turn.Turn{
		Instance: "i", Execution: 1, Build: build.Version, History: slices.Clone(events), Batch: messages, Keys: keys, Semantics: build.Semantics,
		Ack: engine.OrchestrationAck{
			ExecutionID: 1, HistoryDelta: out.Delta, WorkerItems: out.WorkerItems, OrchestratorItems: out.OrchestratorItems, Metadata: out.Metadata,
		},
	}, r.Calls()}
}

type judged struct {
	turn  turn.Turn
	calls []asked.Call
}

func (j *judged) wrong() []string { return told(new(turn.Checker).CheckCode(&j.turn, j.calls)) }

type find = func(kind engine.EventKind, n int) uint64

func begins(find) []engine.WorkItem {
	return []engine.WorkItem{engine.StartItem{Instance: "i", Orchestration: "H", Input: "in", ExecutionID: 1}}
}

func busyTurns(t *testing.T) []judged {
	return history(t, busy, begins,
		func(of find) []engine.WorkItem {
			return []engine.WorkItem{engine.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: of(eventdata.KindActivityScheduled, 1), Result: "one"}}
		},
		func(of find) []engine.WorkItem {
			return []engine.WorkItem{
				engine.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: of(eventdata.KindTimerCreated, 2)},
				engine.QueueMessageItem{Instance: "i", Name: "jobs", Data: "m"},
			}
		},
		func(find) []engine.WorkItem {
			return []engine.WorkItem{engine.ExternalRaisedItem{Instance: "i", Name: "go", Data: "e"}}
		},
		func(of find) []engine.WorkItem {
			return []engine.WorkItem{engine.SubOrchCompletedItem{ParentInstance: "i", ParentExecutionID: 1, ParentID: of(eventdata.KindSubOrchestrationScheduled, 1), Result: "done"}}
		})
}

func ends(t *testing.T, code func(ctx *orch.Context) (string, error)) judged {
	return history(t, func(ctx *orch.Context, _ string) (string, error) { return code(ctx) }, begins)[0]
}

func TestTrueTurnsAgree(t *testing.T) {
	all := busyTurns(t)
	if last := all[len(all)-1].turn.Ack.Metadata; last.Output == nil || *last.Output != "mei" {
		t.Errorf("the turns end with %+v, want the output mei", last)
	}
	all = append(all, ends(t, func(*orch.Context) (string, error) { return "", errors.New("no") }),
		ends(t, func(*orch.Context) (string, error) { panic("no") }),
		ends(t, func(ctx *orch.Context) (string, error) { // a panic leaves no event
			ctx.SetCustomStatus("s")
			ctx.CustomStatus()
			ctx.SetKVValue("k", "v")
			ctx.KVValue("k")
			ctx.PruneKVValuesUpdatedBefore(9999)
			panic("no")
		}),
		ends(t, func(ctx *orch.Context) (string, error) { ctx.ContinueAsNewVersioned("1.0.1", "more"); return "", nil }))
	var c turn.Checker
	for i := range all {
		if wrong := c.CheckCode(&all[i].turn, all[i].calls); len(wrong) > 0 {
			t.Errorf("turn %d: %q", i, wrong)
		}
	}
}

// TestLies falsifies one call or event at a time. The checker must report each of them.
func TestLies(t *testing.T) {
	delta := func(j *judged, kind engine.EventKind) *engine.Event {
		i := slices.IndexFunc(j.turn.Ack.HistoryDelta, func(e engine.Event) bool { return e.Kind() == kind })
		if i < 0 {
			t.Fatalf("the delta has no %s", kind)
		}
		return &j.turn.Ack.HistoryDelta[i]
	}
	without := func(kind engine.EventKind) func(*judged) {
		return func(j *judged) {
			e := delta(j, kind)
			i := slices.IndexFunc(j.turn.Ack.HistoryDelta, func(x engine.Event) bool { return x.EventID == e.EventID })
			j.turn.Ack.HistoryDelta = slices.Delete(slices.Clone(j.turn.Ack.HistoryDelta), i, i+1)
		}
	}
	with := func(kind engine.EventKind, d engine.EventData) func(*judged) {
		return func(j *judged) {
			e := delta(j, kind)
			j.turn.Ack.HistoryDelta = slices.Clone(j.turn.Ack.HistoryDelta)
			delta(j, e.Kind()).Data = d
		}
	}
	onCall := func(k asked.Kind, change func(*asked.Call)) func(*judged) {
		return func(j *judged) {
			i := slices.IndexFunc(j.calls, func(c asked.Call) bool { return c.Kind == k })
			if i < 0 {
				t.Fatalf("no call of kind %d", k)
			}
			change(&j.calls[i])
		}
	}
	uncalled := func(k asked.Kind) func(*judged) {
		return func(j *judged) { j.calls = slices.DeleteFunc(j.calls, func(c asked.Call) bool { return c.Kind == k }) }
	}
	text := func(c *asked.Call) { c.Text += "!" }
	failed := eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "why"}}}
	nondeterministic := eventdata.OrchestrationFailed{Details: eventdata.Nondeterminism("history schedule but no emitted action")}
	for _, lie := range []struct {
		name string
		turn int
		tell func(*judged)
		want string
	}{
		{"another input", 0, onCall(asked.Began, text), "gets the input"},
		{"no code", 0, func(j *judged) { j.calls = nil }, "does not run the code"},
		{"an activity is not recorded", 0, without(eventdata.KindActivityScheduled), "expected events in the order"},
		{"the last request is not recorded", 3, without(eventdata.KindSubOrchestrationScheduled), "does not record that"},
		{"another tag", 0, onCall(asked.Scheduled, func(c *asked.Call) { c.Action.Tag = "x" }), "expected events in the order"},
		{"nobody asked", 0, uncalled(asked.Scheduled), "expected no such event"},
		{"another status", 0, with(eventdata.KindCustomStatusUpdated, eventdata.CustomStatusUpdated{}), "expected events in the order"},
		{"a key with raw bytes", 0, with(eventdata.KindKeyValueSet, eventdata.KeyValueSet{Key: "k", Value: "v\xff"}), "expected events in the order"},
		{"pruned less", 0, onCall(asked.Pruned, func(c *asked.Call) { c.N-- }), "gets 0 as the number of pruned keys: expected 1"},
		{"read other keys", 0, onCall(asked.ReadKeys, func(c *asked.Call) { c.Keys[0].Value = "x" }), "reads the keys"},
		{"read another status", 3, onCall(asked.ReadStatus, func(c *asked.Call) { c.Status = nil }), "reads the custom status"},
		{"another name", 4, onCall(asked.ReadInfo, func(c *asked.Call) { c.Info.Name = "x" }), "gets the context"},
		{"a timer too late", 1, with(eventdata.KindTimerCreated, eventdata.TimerCreated{FireAtMs: 9}), "expected events in the order"},
		{"no breadcrumb of an activity", 1, without(eventdata.KindActivityCancelRequested), "drops event"},
		{"no breadcrumb of a wait", 3, without(eventdata.KindExternalSubscribedCancelled), "drops the wait"},
		{"a breadcrumb of what is not dropped", 3, uncalled(asked.Dropped), "expected code that drops it"},
		{"another wins a select", 1, onCall(asked.Selected, func(c *asked.Call) { c.N = 1 }), "wins a select"},
		{"another detached start", 1, with(eventdata.KindOrchestrationChained, eventdata.OrchestrationChained{Name: "Kin", Instance: "x", Input: "in"}), "expected events in the order"},
		{"another text of a coroutine", 2, func(j *judged) {
			last := slices.IndexFunc(j.calls, func(c asked.Call) bool { return c.Kind == asked.Awaited && c.By == 0 && c.Text == "" })
			j.calls[last].Text = "x"
		}, "from a coroutine"},
		{"another text of a message", 4, func(j *judged) { j.calls[callOf(j, "m")].Text = "x" }, "from the dequeue"},
		{"another text of an event", 4, func(j *judged) { j.calls[callOf(j, "e")].Text = "x" }, "from the wait"},
		{"another text of a child", 4, func(j *judged) { j.calls[callOf(j, "done")].Text = "x" }, "from event"},
		{"a failed child", 4, func(j *judged) { j.calls[callOf(j, "done")].Failed = true }, "an error: true"},
		{"another version of a child", 3, func(j *judged) {
			s := j.turn.Ack.OrchestratorItems[0].(engine.StartItem)
			s.Version = ""
			j.turn.Ack.OrchestratorItems = []engine.WorkItem{s}
		}, "names the version"},
		{"goes on after its end", 4, func(j *judged) { without(eventdata.KindOrchestrationCompleted)(j) }, "has ended, but the turn continues"},
		{"another output", 4, with(eventdata.KindOrchestrationCompleted, eventdata.OrchestrationCompleted{Output: "x"}), "expected the end of the code"},
		{"fails though it returns", 4, with(eventdata.KindOrchestrationCompleted, failed), "which returns"},
		{"ends though it waits", 4, func(j *judged) { j.calls = j.calls[:len(j.calls)-1] }, "which waits"},
		{"panics unseen", 4, onCall(asked.Returned, func(c *asked.Call) { c.Kind = asked.Panicked }), ""},
		{"nondeterministic though it agrees", 4, with(eventdata.KindOrchestrationCompleted, nondeterministic), "expected no such failure"},
		{"continues though it returns", 4, with(eventdata.KindOrchestrationCompleted, eventdata.OrchestrationContinuedAsNew{Input: "x"}), "which returns"},
	} {
		t.Run(lie.name, func(t *testing.T) {
			j := busyTurns(t)[lie.turn]
			lie.tell(&j)
			wrong := j.wrong()
			if len(wrong) == 0 || !strings.Contains(wrong[0], lie.want) {
				t.Errorf("got %q, want it to contain %q", wrong, lie.want)
			}
		})
	}
}

func callOf(j *judged, told string) int {
	return slices.IndexFunc(j.calls, func(c asked.Call) bool { return c.Kind == asked.Awaited && c.Text == told && c.Token != 0 })
}

// TestEndsAreTheCodes falsifies turns whose code ends at once.
func TestEndsAreTheCodes(t *testing.T) {
	again := func() judged {
		return ends(t, func(ctx *orch.Context) (string, error) { ctx.ContinueAsNewVersioned("1.0.1", "more"); return "", nil })
	}
	j := again()
	next := j.turn.Ack.OrchestratorItems[0].(engine.ContinueAsNewItem)
	next.Version = "1.0.2"
	j.turn.Ack.OrchestratorItems = []engine.WorkItem{next}
	expect(t, &j, "gets the version")
	j = again()
	j.calls[1].Action = &orchhost.Action{Input: "less"}
	expect(t, &j, "continues as new with less")
	j = ends(t, func(*orch.Context) (string, error) { panic("no") })
	j.calls = j.calls[:1]
	expect(t, &j, "which waits")
	j = ends(t, func(*orch.Context) (string, error) { return "", nil })
	j.calls[1].Kind = asked.Panicked
	expect(t, &j, "the code panics")
}

func expect(t *testing.T, j *judged, want string) {
	t.Helper()
	if wrong := j.wrong(); len(wrong) == 0 || !strings.Contains(wrong[0], want) {
		t.Errorf("got %q, want it to contain %q", wrong, want)
	}
}
