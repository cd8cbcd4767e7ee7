package replay

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
)

func TestBrokenCallers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   string
	}{
		{"no build", func(in *Input) { in.Build = nil }, "no build"},
		{"no handler", func(in *Input) { in.Handler = nil }, "no handler"},
		{"no start", func(in *Input) { in.Start = nil }, "neither history nor start"},
		{"empty event", func(in *Input) { in.History = []engine.Event{{EventID: 1}} }, "no data"},
		{"nil message", func(in *Input) { in.History = started(); in.Messages = []engine.WorkItem{nil} }, "no known kind"},
	} {
		in := input(oneActivity)
		c.change(&in)
		if out, err := Turn(in); err == nil || !strings.Contains(err.Error(), c.want) || !reflect.DeepEqual(out, Output{}) {
			t.Errorf("%s: %v, want an error that says %q and no output", c.name, err, c.want)
		}
	}
}

func started() []engine.Event {
	return []engine.Event{{EventID: 1, InstanceID: "p", ExecutionID: 1, DuroxideVersion: "1.5.0", Data: eventdata.OrchestrationStarted{Name: "P"}}}
}

// TestDoubleCheck checks that DoubleCheck tells a nondeterministic handler from a deterministic one.
func TestDoubleCheck(t *testing.T) {
	runs := 0
	for _, c := range []struct {
		name string
		h    orch.Handler
		want string
	}{
		{"input", func(c *orch.Context, _ string) (string, error) {
			runs++
			return c.ScheduleActivity("a", fmt.Sprint(runs%2)).Await()
		}, "new event 2 is ActivityScheduled"},
		{"result", func(*orch.Context, string) (string, error) { runs++; return fmt.Sprint(runs), nil }, "new event 2 is OrchestrationCompleted"},
		{"trace", func(c *orch.Context, _ string) (string, error) { runs++; c.Trace(fmt.Sprint(runs)); return "", nil }, "trace 1 is"},
		{"drop", func(c *orch.Context, _ string) (string, error) {
			runs++
			waits := [...]*orch.Future{c.ScheduleWait("go"), c.ScheduleWait("go")}
			waits[runs%2].Drop()
			return c.ScheduleTimer(1).Await()
		}, `new event 5 is ExternalSubscribedCancelled {"event_id":5,"source_event_id":3,`},
		{"honest", handlers["two-steps"], ""},
		{"coroutines", handlers["coroutines"], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs = 0
			in := input(c.h)
			in.DoubleCheck = true
			got := mustTurn(t, in).Nondeterministic
			if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			in.DoubleCheck = false
			first := mustTurn(t, in)
			if got := first.Nondeterministic; got != "" {
				t.Errorf("unasked: %q", got)
			}
			in.DoubleCheck, in.History = true, first.Delta
			if got := mustTurn(t, in).Nondeterministic; c.name == "input" && !strings.HasPrefix(got, `in one, schedule mismatch: action=Activity(name="a", input="0") vs `) {
				t.Errorf("with a history: %q", got)
			}
		})
	}
}

// TestQuiescenceCap builds a history in which over a hundred waits were dropped after their events had arrived. Each
// new wait is therefore served as soon as it is bound, and the code keeps waiting.
func TestQuiescenceCap(t *testing.T) {
	h := func(n int) orch.Handler {
		return func(c *orch.Context, _ string) (string, error) {
			var first []*orch.Future
			for range n {
				first = append(first, c.ScheduleWait("go"))
			}
			c.ScheduleTimer(second).Await()
			for _, f := range first {
				f.Drop()
			}
			c.ScheduleTimer(second).Await()
			for range n {
				c.ScheduleWait("go").Await()
			}
			return "all", nil
		}
	}
	for _, c := range []struct {
		n    int
		want Result
	}{{99, ResultCompleted}, {100, ResultFailed}, {150, ResultFailed}} {
		in := input(h(c.n))
		out := mustTurn(t, in)
		for _, batch := range [][]engine.WorkItem{raises(c.n), {fired(c.n + 2)}, {fired(2*c.n + 4)}} {
			in.History, in.Messages = append(in.History, out.Delta...), batch
			out = mustTurn(t, in)
		}
		if out.Result != c.want {
			t.Fatalf("%d waits: %v %q", c.n, out.Result, out.Details.Display())
		}
		if c.want == ResultFailed {
			want := "infrastructure:quiescence_loop: quiescence loop exceeded 100 iterations —                      orchestration is emitting"
			if !strings.HasPrefix(out.Details.Display(), want) || out.Details.Retryable() {
				t.Errorf("%q", out.Details.Display())
			}
		}
	}
}

func raises(n int) []engine.WorkItem {
	var out []engine.WorkItem
	for i := range n {
		out = append(out, engine.ExternalRaisedItem{Instance: "p", Name: "go", Data: fmt.Sprint(i)})
	}
	return out
}

func fired(id int) engine.WorkItem {
	return engine.TimerFiredItem{Instance: "p", ExecutionID: 1, ID: uint64(id)}
}

func TestRunawaySchedulesFail(t *testing.T) {
	out := mustTurn(t, input(func(c *orch.Context, _ string) (string, error) {
		for {
			c.StartOrchestration("Other", "other", "")
		}
	}))
	if out.Result != ResultFailed || out.Details.Application.Message != tooManyText || len(out.Delta) != 2 {
		t.Errorf("%v %q with %d events", out.Result, out.Details.Display(), len(out.Delta))
	}
}

// TestHistoryWithGaps checks that schedules are found in a history whose ids are not positions, as happens after a
// continue-as-new.
func TestHistoryWithGaps(t *testing.T) {
	in := input(handlers["two-steps"])
	in.History = append(started(),
		engine.Event{EventID: 4, Data: eventdata.ActivityScheduled{Name: "a"}},
		engine.Event{EventID: 9, SourceEventID: 4, Data: eventdata.ActivityCompleted{Result: "x"}},
		engine.Event{EventID: 11, Data: eventdata.ActivityScheduled{Name: "b", Input: "x"}},
	)
	in.Messages = []engine.WorkItem{engine.ActivityCompletedItem{ExecutionID: 1, ID: 11, Result: "y"}}
	out := mustTurn(t, in)
	if out.Result != ResultCompleted || out.Delta[0].EventID != 12 || *out.Metadata.Output != "xy" {
		t.Errorf("%+v", out)
	}
}

// TestContinueAsNewTakesAnID demonstrates the gap: the action uses up an id, but no event has that id.
func TestContinueAsNewTakesAnID(t *testing.T) {
	out := mustTurn(t, input(func(c *orch.Context, _ string) (string, error) {
		c.Go(func(c *orch.Context) (string, error) { c.ContinueAsNew("next"); return "", nil })
		c.Go(func(c *orch.Context) (string, error) { return c.ScheduleActivity("a", "").Await() })
		return c.ScheduleWait("go").Await()
	}))
	var ids []uint64
	for _, e := range out.Delta {
		ids = append(ids, e.EventID)
	}
	if want := []uint64{1, 2, 4, 5, 6, 7}; !slices.Equal(ids, want) || out.Result != ResultContinueAsNew {
		t.Errorf("%v: ids %v, want %v", out.Result, ids, want)
	}
}

func TestChildInstance(t *testing.T) {
	child := func(id string) string { return eventdata.SubOrchestrationScheduled{Instance: id}.Child("p") }
	if child("own") != "own" || child("sub::6") != "p::sub::6" {
		t.Error("an id of a child is wrong")
	}
}

// TestParentLinks checks where an execution gets its parent link from.
func TestParentLinks(t *testing.T) {
	link := func(execution uint64) *engine.ParentLink {
		return &engine.ParentLink{Instance: "q", ExecutionID: execution, EventID: 7}
	}
	of := func(execution uint64) []engine.Event {
		return []engine.Event{{EventID: 1, DuroxideVersion: "1.5.0", Data: eventdata.OrchestrationStarted{ParentInstance: "q", ParentID: 7, ParentExecutionID: execution}}}
	}
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   uint64
	}{
		{"start", func(in *Input) { in.Start.Parent = link(3) }, 3},
		{"start without execution", func(in *Input) { in.Start.Parent = link(0) }, 1},
		{"provider", func(in *Input) { in.Parent = link(3) }, 3},
		{"history", func(in *Input) { in.History, in.Parent = of(3), link(9) }, 3},
		{"history of 0.1.26", func(in *Input) { in.History = of(0) }, 1},
		{"history of 0.1.26, provider", func(in *Input) { in.History, in.Parent = of(0), link(3) }, 3},
		{"history of 0.1.26, provider of another schedule", func(in *Input) {
			in.History, in.Parent = of(0), &engine.ParentLink{Instance: "q", ExecutionID: 3, EventID: 8}
		}, 1},
		{"history of 0.1.26, provider of another parent", func(in *Input) {
			in.History, in.Parent = of(0), &engine.ParentLink{Instance: "p", ExecutionID: 3, EventID: 7}
		}, 1},
		{"history without, provider", func(in *Input) { in.History, in.Parent = started(), link(3) }, 3},
		{"none", func(*Input) {}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := input(handlers["echo"])
			c.change(&in)
			var got uint64
			for _, m := range mustTurn(t, in).OrchestratorItems {
				got = m.(engine.SubOrchCompletedItem).ParentExecutionID
			}
			if got != c.want {
				t.Errorf("execution %d was told, want %d", got, c.want)
			}
		})
	}
}

// PlantedBugs lists the ids of this package's bugs, and RulesWith returns the rules with some of them turned on.
// TestMain sets both.
var (
	PlantedBugs []string
	RulesWith   func(ids ...string) Rules
)

// TestBugs checks that every planted bug has a story.
func TestBugs(t *testing.T) {
	stories := storyTexts(t)
	for _, id := range PlantedBugs {
		if !strings.Contains(stories, "bug "+id+"\n") {
			t.Errorf("no story plays %s", id)
		}
	}
}

// TestVerify checks what Verify reports. That it reports nothing for genuine histories is part of
// TestReplayIsDeterministic.
func TestVerify(t *testing.T) {
	event := func(id, source uint64, data engine.EventData) engine.Event {
		return engine.Event{EventID: id, SourceEventID: source, Data: data}
	}
	scheduled := append(started(), event(2, 0, eventdata.ActivityScheduled{Name: "charge"}))
	done := append(slices.Clone(scheduled), event(3, 2, eventdata.ActivityCompleted{Result: "x"}))
	with := func(data engine.EventData) []engine.Event { return append(slices.Clone(done), event(4, 0, data)) }
	failed := func(d engine.ErrorDetails) engine.EventData { return eventdata.OrchestrationFailed{Details: d} }
	tooLong := strings.Repeat("x", engine.MaxKVValueBytes+1)
	const overLong = "KV value for key 'k' (16385 bytes) exceeds limit (16384 bytes)"
	handlers := maps.Clone(handlers)
	handlers["long-key"] = func(c *orch.Context, _ string) (string, error) {
		c.SetKVValue("k", tooLong)
		return "kept", nil
	}
	for _, c := range []struct {
		name    string
		h       string
		history []engine.Event
		want    string
	}{
		{"running", "activity", scheduled, ""},
		{"right end", "activity", with(eventdata.OrchestrationCompleted{Output: "x"}), ""},
		{"cancelled", "activity", append(slices.Clone(scheduled), event(3, 0, failed(engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppCancelled}}))), ""},
		{"limit", "long-key", append(started(), event(2, 0, eventdata.KeyValueSet{Key: "k", Value: tooLong}), event(3, 0, failed(orchestrationFailed(overLong)))), ""},
		{"limit not broken", "activity", with(failed(orchestrationFailed(overLong))), `the code returns "x", the history ends with OrchestrationFailed("` + overLong + `")`},
		{"poisoned", "echo", with(failed(engine.ErrorDetails{Poison: &eventdata.PoisonError{}})), ""},
		{"other output", "activity", with(eventdata.OrchestrationCompleted{Output: "y"}), `the code returns "x", the history ends with OrchestrationCompleted("y")`},
		{"other end", "activity", with(failed(application("no"))), `the code returns "x", the history ends with OrchestrationFailed("no")`},
		{"end missing", "activity", done, `the code returns "x", the history goes on`},
		{"too early", "activity", append(slices.Clone(scheduled), event(3, 0, eventdata.OrchestrationCompleted{})), `the code waits, the history ends with OrchestrationCompleted("")`},
		{"other name", "two-steps", done, `nondeterministic: schedule mismatch: action=Activity(name="a", input="") vs event=ActivityScheduled(name="charge", input="")`},
		{"more", "join", started(), `the code asks for something new: Activity(name="a", input=""), the history goes on`},
		{"panic", "odd-panic", started(), `the code ends with "orchestration panicked: orchestration panicked", at PLACE, the history goes on`},
		{"no beginning", "activity", []engine.Event{event(1, 0, eventdata.OrchestrationCompleted{})}, "the history is an end without a beginning"},
	} {
		in := input(handlers[c.h])
		in.History = c.history
		got, err := Verify(in)
		got = regexp.MustCompile(`at \S+ \(handlers_test\.go:\d+\)`).ReplaceAllString(got, "at PLACE")
		if err != nil || got != c.want {
			t.Errorf("%s: %v %q, want %q", c.name, err, got, c.want)
		}
	}
	if _, err := Verify(input(handlers["echo"])); err == nil {
		t.Error("an empty history was verified")
	}
}
