package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/internal/wording"
)

// step is a statement of a generated program. It creates futures and combines them.
type step struct {
	futures []futureSpec
	how     string // one of await, select, join, drop-first, leave, state
}

type futureSpec struct {
	kind  string // one of activity, timer, wait, wait2, dequeue, child, coroutine
	name  string
	steps []step // statements of a coroutine
}

type program struct {
	steps []step
	end   string // one of return, fail, panic, continue
}

func (p program) handler(ctx *orch.Context, in string) (string, error) {
	text := runSteps(ctx, p.steps, in)
	switch p.end {
	case "fail":
		return "", errors.New("failed after " + text)
	case "panic":
		panic("panicked after " + text)
	case "continue":
		ctx.StartOrchestration("Other", "other", text)
		ctx.ContinueAsNew(text)
	}
	return text, nil
}

func runSteps(ctx *orch.Context, steps []step, in string) string {
	text := in
	for i, s := range steps {
		ctx.Trace(text)
		fs := make([]*orch.Future, len(s.futures))
		for j, f := range s.futures {
			fs[j] = f.schedule(ctx, fmt.Sprintf("%d.%d", i, j))
		}
		switch s.how {
		case "select":
			n, v, err := orch.Select(fs...)
			text += fmt.Sprint("|", n, v, err)
		case "leave":
		case "state":
			text += changeState(ctx, i, text)
		case "drop-first":
			fs[0].Drop()
			for _, o := range orch.Join(fs[1:]...) {
				text += fmt.Sprint("|", o.Value, o.Err)
			}
		default:
			for _, o := range orch.Join(fs...) {
				text += fmt.Sprint("|", o.Value, o.Err)
			}
		}
		if len(text) > 200 {
			text = text[:200]
		}
	}
	return text
}

// changeState writes the custom status and keys, and returns what it reads back.
func changeState(ctx *orch.Context, i int, text string) string {
	status, _ := ctx.CustomStatus()
	ctx.SetCustomStatus(text)
	if i%2 == 1 {
		ctx.ResetCustomStatus()
	}
	ctx.SetKVValue(fmt.Sprint("k", i), fmt.Sprint(len(text)))
	ctx.ClearKVValue("k1")
	pruned := ctx.PruneKVValuesUpdatedBefore(uint64(1000 * i))
	return fmt.Sprint("|", len(status), pruned, ctx.KVAllValues())
}

func (f futureSpec) schedule(ctx *orch.Context, input string) *orch.Future {
	switch f.kind {
	case "activity":
		return ctx.ScheduleActivity(f.name, input)
	case "timer":
		return ctx.ScheduleTimer(time.Second)
	case "wait":
		return ctx.ScheduleWait(f.name)
	case "wait2":
		return ctx.ScheduleWait2(f.name, "t")
	case "dequeue":
		return ctx.DequeueEvent(f.name)
	case "child":
		return ctx.ScheduleSubOrchestration(f.name, input)
	}
	return ctx.Go(func(c *orch.Context) (string, error) { return runSteps(c, f.steps, input), nil })
}

func drawSteps(t *rapid.T, depth int) []step {
	kinds := []string{"activity", "timer", "wait", "wait2", "dequeue", "dequeue", "child"}
	if depth > 0 {
		kinds = append(kinds, "coroutine", "coroutine")
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			how: rapid.SampledFrom([]string{"await", "select", "select", "join", "drop-first", "leave", "state"}).Draw(t, "how"),
			futures: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) futureSpec {
				f := futureSpec{kind: rapid.SampledFrom(kinds).Draw(t, "kind"), name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
				if f.kind == "coroutine" {
					f.steps = drawSteps(t, depth-1)
				}
				return f
			}), 1, 3).Draw(t, "futures"),
		}
	}), 0, 4).Draw(t, "steps")
}

// world supplies the messages for one execution.
type world struct {
	in   Input
	open []engine.WorkItem // completions that can be delivered
	sent []engine.WorkItem // completions that have been delivered
}

// batch returns a random batch for the next turn: some completions in any order, some events and, occasionally, a stale
// message, a duplicate, or a cancel request.
func (w *world) batch(t *rapid.T) []engine.WorkItem {
	var out []engine.WorkItem
	for n := rapid.IntRange(1, 4).Draw(t, "batch"); n > 0; n-- {
		switch c := rapid.IntRange(0, 19).Draw(t, "message"); {
		case c == 0 && len(w.sent) > 0:
			out = append(out, rapid.SampledFrom(w.sent).Draw(t, "duplicate"))
		case c == 1 && len(w.sent) > 0:
			if m, ok := rapid.SampledFrom(w.sent).Draw(t, "stale").(engine.ActivityCompletedItem); ok {
				m.ExecutionID++
				out = append(out, m)
			}
		case c == 2 && rapid.IntRange(0, 5).Draw(t, "cancel") == 0:
			out = append(out, engine.CancelInstanceItem{Instance: "i", Reason: "stop"})
		case c <= 6:
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "event")
			if rapid.Bool().Draw(t, "queued") {
				out = append(out, engine.QueueMessageItem{Instance: "i", Name: name, Data: fmt.Sprint("q", len(w.sent))})
			} else if w.in.Build.Emits.Has(eventdata.KindExternalEvent2) && rapid.Bool().Draw(t, "second") {
				out = append(out, engine.ExternalRaised2Item{Instance: "i", Name: name, Topic: "t", Data: fmt.Sprint(len(w.sent))})
			} else {
				out = append(out, engine.ExternalRaisedItem{Instance: "i", Name: name, Data: fmt.Sprint(len(w.sent))})
			}
		case len(w.open) > 0:
			i := rapid.IntRange(0, len(w.open)-1).Draw(t, "open")
			out = append(out, w.open[i])
			w.sent = append(w.sent, w.open[i])
			w.open = slices.Delete(w.open, i, i+1)
		}
	}
	return out
}

// take stores the completions for the items enqueued by a turn.
func (w *world) take(out *Output) {
	for _, m := range append(slices.Clone(out.WorkerItems), out.OrchestratorItems...) {
		switch m := m.(type) {
		case engine.ActivityExecuteItem:
			if m.ID%3 == 0 {
				w.open = append(w.open, engine.ActivityFailedItem{Instance: "i", ExecutionID: 1, ID: m.ID, Details: application("bad " + m.Name)})
			} else {
				w.open = append(w.open, engine.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: m.ID, Result: m.Name + m.Input})
			}
		case engine.TimerFiredItem:
			w.open = append(w.open, m)
		case engine.StartItem:
			if m.ParentInstance != "" {
				w.open = append(w.open, engine.SubOrchCompletedItem{
					ParentInstance: "i", ParentExecutionID: m.ParentExecutionID, ParentID: m.ParentID, Result: m.Orchestration,
				})
			}
		}
	}
}

// TestReplayIsDeterministic plays random programs turn by turn with random completions, and replays the history after
// each turn. Each turn runs on any build that may serve the execution.
func TestReplayIsDeterministic(t *testing.T) {
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := program{steps: drawSteps(t, 2), end: rapid.SampledFrom([]string{"return", "return", "fail", "panic", "continue"}).Draw(t, "end")}
		builds := rapid.SampledFrom([][]*engine.Build{standardBuilds(), thresholdBuilds()}).Draw(t, "builds")
		pin := rapid.SampledFrom(builds).Draw(t, "pin")
		w := &world{in: Input{
			Build: pin, Instance: "i", ExecutionID: 1, Handler: p.handler, NowMs: 1000, DoubleCheck: true,
			KVSnapshot: []engine.KVEntry{{Key: "k1", Value: "old", LastUpdatedAtMs: 500}, {Key: "old", Value: "old", LastUpdatedAtMs: 900}},
			Start:      &Start{Name: "P", Version: "1.0.0", Parent: &engine.ParentLink{Instance: "q", ExecutionID: 2, EventID: 3}},
		}}
		for range 40 {
			w.in.Messages = w.batch(t)
			w.in.Build = pin
			if len(w.in.History) > 0 {
				w.in.Build = rapid.SampledFrom(servers(builds, pin, w.in.History)).Draw(t, "build")
			}
			out := checkedTurn(t, w.in, pin)
			w.in.History = append(w.in.History[:len(w.in.History):len(w.in.History)], out.Delta...)
			w.in.NowMs += 1000
			if out.Result != ResultContinue {
				ends[out.Result.String()]++
				checkEnd(t, w.in, out, builds, pin)
				return
			}
			if out.Metadata.Status != "" {
				t.Fatalf("status %s without an end", out.Metadata.Status)
			}
			w.take(&out)
			checkVerify(t, w.in, builds, pin)
			replayed := w.in
			replayed.Messages = nil
			again := checkedTurn(t, replayed, pin)
			if again.Result != ResultContinue || len(again.Delta)+len(again.WorkerItems)+len(again.OrchestratorItems)+len(again.Cancelled) > 0 {
				t.Fatalf("replay does something new: %v\nhistory: %s", printOutput(&again, "i"), historyText(w.in.History))
			}
			if len(again.Traces) > 0 && !tracesAfterLastCompletion(w.in.History) {
				t.Fatalf("replay writes traces %q", again.Traces)
			}
		}
		ends["unfinished"]++
	})
	if !testing.Short() && (ends["Completed"] == 0 || ends["Failed"] == 0 || ends["ContinueAsNew"] == 0 || ends["Cancelled"] == 0) {
		t.Errorf("the programs end too uniformly: %v", ends)
	}
}

// tracesAfterLastCompletion reports whether the code runs once more with replaying off after the last event, or after
// something that this event frees (docs/contract/runtime.md#r7.5).
func tracesAfterLastCompletion(history []engine.Event) bool {
	switch history[len(history)-1].Data.(type) {
	case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted,
		eventdata.SubOrchestrationFailed, eventdata.ExternalEvent, eventdata.ExternalEvent2, eventdata.QueueEventDelivered, eventdata.OrchestrationStarted,
		eventdata.QueueSubscribed, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
		return true
	}
	return false
}

func standardBuilds() []*engine.Build {
	var out []*engine.Build
	for _, b := range engine.ShippedBuilds() {
		if b.Semantics == engine.SemanticsStandard {
			out = append(out, b)
		}
	}
	return out
}

// thresholdBuilds returns builds of which the later ones have different replay semantics for executions that they
// begin.
func thresholdBuilds() []*engine.Build {
	out := standardBuilds()
	for _, b := range out {
		if b.Version.Compare(engine.V(2, 0, 0)) >= 0 {
			b.Changes = []engine.SemanticsChange{{Since: engine.V(2, 0, 0), Semantics: engine.SemanticsDiscard}}
		}
	}
	return out
}

// servers returns the builds that may serve an execution. They must be no older than its pin and be able to read its
// history.
func servers(builds []*engine.Build, pin *engine.Build, history []engine.Event) []*engine.Build {
	var out []*engine.Build
	for _, b := range builds {
		if b.Version.Compare(pin.Version) >= 0 && b.Reads(history) {
			out = append(out, b)
		}
	}
	return out
}

// checkedTurn runs a turn and checks the rules that apply to every turn.
func checkedTurn(t *rapid.T, in Input, pin *engine.Build) Output {
	history, messages, start := slices.Clone(in.History), slices.Clone(in.Messages), *in.Start
	out := sample.Must(Turn(in))(t)
	if out.Nondeterministic != "" {
		t.Fatal("two runs differ:", out.Nondeterministic)
	}
	if d := cmp.Diff([]any{history, messages, start}, []any{in.History, in.Messages, *in.Start}); d != "" {
		t.Fatalf("the turn changed its input (-before +after):\n%s", d)
	}
	if d := out.Details; d.Configuration != nil {
		t.Fatalf("nondeterminism: %s\nhistory: %s", d.Display(), historyText(append(history, out.Delta...)))
	}
	last := uint64(0)
	if len(in.History) > 0 {
		last = in.History[len(in.History)-1].EventID
	}
	closed := map[uint64]bool{}
	for i, e := range append(slices.Clone(in.History), out.Delta...) {
		if i >= len(in.History) {
			if e.EventID <= last || e.InstanceID != "i" || e.ExecutionID != 1 || e.DuroxideVersion != in.Build.Name() {
				t.Fatalf("bad envelope %+v after id %d", e, last)
			}
			last = e.EventID
			if !in.Build.Writes(e.Kind(), &pin.Version) {
				t.Fatalf("build %s wrote %s into an execution of %s", in.Build.Name(), e.Kind(), pin.Name())
			}
		}
		switch e.Data.(type) {
		case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
			if closed[e.SourceEventID] {
				t.Fatalf("schedule %d completed twice", e.SourceEventID)
			}
			closed[e.SourceEventID] = true
		}
	}
	recorded := 0
	for _, e := range out.Delta {
		switch e.Data.(type) {
		case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed,
			eventdata.ExternalEvent, eventdata.ExternalEvent2, eventdata.QueueEventDelivered, eventdata.OrchestrationCancelRequested:
			recorded++
		}
	}
	if recorded+len(out.Dropped) != len(in.Messages) {
		t.Fatalf("%d messages, %d recorded, %d dropped", len(in.Messages), recorded, len(out.Dropped))
	}
	for i, c := range out.Cancelled {
		if slices.Contains(out.Cancelled[:i], c) {
			t.Fatalf("activity %d withdrawn twice", c.ActivityID)
		}
	}
	return out
}

// checkEnd checks the rules that apply to every execution that has ended. in.History must include the end.
func checkEnd(t *rapid.T, in Input, out Output, builds []*engine.Build, pin *engine.Build) {
	terminals := 0
	running := map[uint64]bool{}
	for _, e := range in.History {
		switch e.Data.(type) {
		case eventdata.OrchestrationCompleted, eventdata.OrchestrationFailed, eventdata.OrchestrationContinuedAsNew:
			terminals++
		case eventdata.ActivityScheduled:
			running[e.EventID] = true
		case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.ActivityCancelRequested:
			delete(running, e.SourceEventID)
		}
	}
	if terminals != 1 || len(running) > 0 {
		t.Fatalf("%d terminal events, %d activities left", terminals, len(running))
	}
	told := 0
	for _, m := range out.OrchestratorItems {
		switch m := m.(type) {
		case engine.SubOrchCompletedItem, engine.SubOrchFailedItem:
			told++
		case engine.ContinueAsNewItem:
			told++
			if m.ParentInstance != "q" || m.ParentExecutionID != 2 || m.ParentID != 3 {
				t.Fatalf("parent lost: %+v", m)
			}
		}
	}
	if told != 1 {
		t.Fatalf("%d messages to the parent or the next execution", told)
	}
	checkVerify(t, in, builds, pin)
	checkAltered(t, in, out.PanickedAt)
	in.Messages = []engine.WorkItem{engine.CancelInstanceItem{Instance: "i"}}
	if after, err := Turn(in); err != nil || len(after.Delta) > 0 || len(after.Dropped) != 1 {
		t.Fatalf("a turn after the end: %v %+v", err, after)
	}
}

// checkVerify verifies the history on every build that may serve the execution.
func checkVerify(t *rapid.T, in Input, builds []*engine.Build, pin *engine.Build) {
	for _, in.Build = range servers(builds, pin, in.History) {
		if d, err := Verify(in); err != nil || d != "" {
			t.Fatalf("on %s: %v %s\nhistory: %s", in.Build.Name(), err, d, historyText(in.History))
		}
	}
}

func historyText(history []engine.Event) string {
	var b strings.Builder
	for _, e := range history {
		fmt.Fprintf(&b, "\n%d %s", e.EventID, wording.EventText(e))
	}
	return b.String()
}
