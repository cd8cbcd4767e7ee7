package selfcheck

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/internal/dev/turn"
)

// TestPlaceOfPanic checks what a turn says about the place where its code panicked.
func TestPlaceOfPanic(t *testing.T) {
	ended := func(kind eventdata.ApplicationKind, message string) []engine.Event {
		return []engine.Event{
			{Data: eventdata.TimerFired{}},
			{Data: eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: kind, Message: message}}}},
		}
	}
	const none, noPlace = "", "does not say where its code panicked: expected a function of the code, its file and its line"
	at := func(place string) string {
		return `says that its code panicked at "` + place + `": expected a function of the code, its file and its line`
	}
	panicked := ended(eventdata.AppPanicked, "no")
	for _, row := range []struct {
		place string
		delta []engine.Event
		want  string
	}{
		{"pkg.Do (do.go:7)", panicked, none},
		{"", panicked, noPlace},
		{"", ended(eventdata.AppOrchestrationFailed, "no"), none},
		{"", nil, none},
		{"", []engine.Event{{Data: eventdata.OrchestrationFailed{Details: eventdata.Nondeterminism("x")}}}, none},
		{"pkg.Do (do.go:7)", ended(eventdata.AppOrchestrationFailed, "no"), `says that its code panicked at "pkg.Do (do.go:7)": expected no place, since it did not`},
		{"", ended(eventdata.AppPanicked, "orchestration code called runtime.Goexit"), noPlace},
		{"", ended(eventdata.AppPanicked, "orch: a Context was used from another goroutine, which"), none},
		{"Do (do.go:7)", panicked, at("Do (do.go:7)")},
		{"pkg.go (do.go:7)", panicked, at("pkg.go (do.go:7)")},
		{"pkg.Do (.go:7)", panicked, at("pkg.Do (.go:7)")},
		{"pkg.Do (do.go:x)", panicked, at("pkg.Do (do.go:x)")},
		{"pkg.Do", panicked, at("pkg.Do")},
		{"replay.(*turn).Schedule (host.go:7)", panicked, at("replay.(*turn).Schedule (host.go:7)")},
	} {
		if got := place(&machine.TurnNote{PanickedAt: row.place}, row.delta); got != row.want {
			t.Errorf("%q: %q, want %q", row.place, got, row.want)
		}
	}
}

// TestDrops compares what a turn says that it drops with what it must drop.
func TestDrops(t *testing.T) {
	stale, again := machine.DroppedMessage{Index: 1, Rule: "stale-execution"}, machine.DroppedMessage{Index: 3, Rule: "duplicate-completion"}
	want := []turn.Drop{{Message: 1, Rule: "stale-execution"}, {Message: 3, Rule: "duplicate-completion"}}
	for _, row := range []struct {
		says []machine.DroppedMessage
		want string
	}{
		{[]machine.DroppedMessage{stale, again}, ""},
		{[]machine.DroppedMessage{again, stale}, "expected [{Message:1 Rule:stale-execution} {Message:3 Rule:duplicate-completion}]"},
		{[]machine.DroppedMessage{stale}, "the turn says that it drops [{Index:1 Rule:stale-execution}]: expected"},
		{[]machine.DroppedMessage{stale, {Index: 3, Rule: "terminal"}}, "Rule:terminal"},
		{[]machine.DroppedMessage{stale, {Index: 2, Rule: again.Rule}}, "Index:2"},
	} {
		if got := drops(row.says, want); (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%v: %q, want %q", row.says, got, row.want)
		}
	}
	if got := drops(nil, nil); got != "" {
		t.Error(got)
	}
}
