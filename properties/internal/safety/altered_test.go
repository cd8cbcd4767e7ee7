package safety

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/replay"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/plan"
)

// TestAlteredHistories alters the histories of code that ends in each way. A replay says what it must, and another
// description is refused.
func TestAlteredHistories(t *testing.T) {
	code := func(end func(ctx *orch.Context) (string, error)) orch.Handler {
		return func(ctx *orch.Context, _ string) (string, error) {
			ctx.ScheduleActivity("Work", "in", orch.OnSession("s"), orch.WithTag("t"))
			return end(ctx)
		}
	}
	altered := 0
	for name, handler := range map[string]orch.Handler{
		"returns": code(func(*orch.Context) (string, error) { return "out", nil }),
		"fails":   code(func(*orch.Context) (string, error) { return "", errors.New("no") }),
		"panics": code(func(ctx *orch.Context) (string, error) {
			ctx.ScheduleTimer(time.Second)
			panic("no")
		}),
		"continues": code(func(ctx *orch.Context) (string, error) { ctx.ContinueAsNewVersioned("1.1.0", "more"); return "", nil }),
	} {
		in := replay.Input{Build: engine.ShippedBuilds()[2], Instance: "i", ExecutionID: 1, Handler: handler, Start: &replay.Start{Name: "O", Version: "1.0.0"}}
		out, err := replay.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			history, want := alter(n, out.Delta, out.PanickedAt)
			if history == nil {
				continue
			}
			altered++
			in.History = history
			says, err := replay.Verify(in)
			if err != nil || !matchesOpen(says, want) {
				t.Errorf("code that %s, change %d: %q, %v; want %q", name, n, says, err, want)
			}
			if matchesOpen("", want) || matchesOpen(says+"!", want) || matchesOpen("!"+says, want) {
				t.Errorf("code that %s, change %d: %q allows other descriptions", name, n, want)
			}
		}
	}
	if altered < 18 {
		t.Errorf("%d altered histories, want 18", altered)
	}
}

// TestReplaysOfAlteredHistories checks that a replay that does not report the change is reported itself.
func TestReplaysOfAlteredHistories(t *testing.T) {
	handler := func(*orch.Context, string) (string, error) { panic("no") }
	build := engine.ShippedBuilds()[2]
	out, err := replay.Turn(replay.Input{Build: build, Instance: "order-1", ExecutionID: 3, Handler: handler, Start: &replay.Start{Name: "O", Version: "1.0.0"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, place string
		agreed      int
		history     []engine.Event
		want        string
	}{
		{"what the replay says", out.PanickedAt, alteredEvery - 1, out.Delta, ""},
		{"another place", "elsewhere", alteredEvery - 1, out.Delta, "order-1: execution 3 of order-1, replayed on build 1.6.0 with one change to its history: the replay says " +
			`"the code ends with \"orchestration panicked: no\", at PLACE, the history ends with OrchestrationFailed(\"altered\")"; expected ` +
			`"the code ends with \"orchestration panicked: no\", at elsewhere, the history ends with OrchestrationFailed(\"altered\")"`},
		{"another place, of a history that is not altered", "elsewhere", alteredEvery, out.Delta, ""},
		{"a history without an end", "elsewhere", alteredEvery - 1, out.Delta[:1], ""},
	} {
		w := &fakeWorld{plan: &plan.Plan{}, builds: engine.ShippedBuilds()}
		m := newSafety(w, "S11")
		m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "order-1"})
		k := newReplayChecker(m.Run).(*replayChecker)
		k.agreed, k.panics["order-1"] = row.agreed, row.place
		in := m.Model.Instance(1)
		k.replayAltered(in, &model.Execution{Instance: in, ID: 3}, nil, build, handler, row.history)
		var lines []string
		for _, v := range m.Violations() {
			lines = append(lines, v.Instance+": "+strings.ReplaceAll(v.Message, out.PanickedAt, "PLACE"))
		}
		if diff := cmp.Diff(row.want, strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

// TestTextsOfAlteredHistories checks the parts of the descriptions that TestAlteredHistories compares.
func TestTextsOfAlteredHistories(t *testing.T) {
	ids := func(ids ...uint64) (history []engine.Event) {
		for _, id := range ids {
			history = append(history, engine.Event{EventID: id})
		}
		return history
	}
	if hasGap(ids(3, 4, 5)) || !hasGap(ids(3, 4, 6)) {
		t.Error("a gap is where an id is missing")
	}
	for _, row := range []struct {
		text, want string
		match      bool
	}{
		{"ab", "ab" + anything + "b", false}, {"abb", "ab" + anything + "b", true}, {"abxb", "ab" + anything + "b", true}, {"ab", "ab", true}, {"abb", "ab", false},
	} {
		if matchesOpen(row.text, row.want) != row.match {
			t.Errorf("%q matches %q: want %t", row.text, row.want, row.match)
		}
	}
	failed := func(kind eventdata.ApplicationKind, message string) engine.EventData {
		return eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: kind, Message: message, Reason: "reason"}}}
	}
	for _, row := range []struct {
		end         engine.EventData
		place, want string
	}{
		{eventdata.OrchestrationFailed{Details: eventdata.Nondeterminism("x")}, "", ""},
		{failed(eventdata.AppCancelled, "no"), "", ""},
		{failed(eventdata.AppOrchestrationFailed, "value (9) exceeds limit (8)"), "", ""},
		{failed(eventdata.AppOrchestrationFailed, "no"), "p.F (f.go:1)", `the code fails with "no"`},
		{failed(eventdata.AppPanicked, "no"), "", `the code ends with "orchestration panicked: no"`},
		{failed(eventdata.AppPanicked, "no"), "p.F (f.go:1)", `the code ends with "orchestration panicked: no", at p.F (f.go:1)`},
		{eventdata.TimerFired{}, "", ""},
	} {
		if got := codeEnding(row.end, row.place); got != row.want {
			t.Errorf("%+v: %q, want %q", row.end, got, row.want)
		}
	}
	for want, d := range map[string]eventdata.ActivityScheduled{
		`(name="W", input="i")`: {Name: "W", Input: "i"}, `(name="W", input="i", session_id="s")`: {Name: "W", Input: "i", SessionID: "s"},
		`(name="W", input="i", tag="t")`: {Name: "W", Input: "i", Tag: "t"},
	} {
		if got := activityTold(d); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
	if end, says := anotherEnd(eventdata.OrchestrationCompleted{Output: "x"}); says != `OrchestrationFailed("x")` || !cmp.Equal(end, failedWith("x")) {
		t.Errorf("another end is %+v, %q", end, says)
	}
	first := []engine.Event{{EventID: 1, Data: eventdata.ActivityScheduled{Name: "W"}}, {EventID: 2, Data: eventdata.OrchestrationCompleted{}}}
	if altered, _ := alter(4, first, ""); altered == nil {
		t.Error("an activity that is the first event is not found")
	}
}
