package main

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
)

// TestVerdicts compares what replay.Verify and replay.DiffersAt say of code and histories that go on, or end, in different ways
// with what was read once. No contract states the words.
func TestVerdicts(t *testing.T) {
	before := runtime.NumGoroutine()
	compare(t, "verdicts", verdicts())
	if n := left(before); n > 0 {
		t.Errorf("%d goroutines are left behind", n)
	}
}

// The codes differ after an activity that all have, the histories after its schedule: in what else they have, and in their end.
var (
	errOver = errors.New("over")
	codes   = []func(ctx *orch.Context, work *orch.Future) (string, error){
		func(_ *orch.Context, work *orch.Future) (string, error) { return work.Await() },
		func(*orch.Context, *orch.Future) (string, error) { return "over", nil },
		func(*orch.Context, *orch.Future) (string, error) { return "over", errOver },
		func(*orch.Context, *orch.Future) (string, error) { panic("over") },
		func(ctx *orch.Context, _ *orch.Future) (string, error) { return goOn(ctx) },
		func(ctx *orch.Context, _ *orch.Future) (string, error) { return ctx.ScheduleWait("\xff").Await() },
		func(ctx *orch.Context, work *orch.Future) (string, error) {
			ctx.Go(goOn)
			ctx.Go(func(ctx *orch.Context) (string, error) { return ctx.ScheduleActivity("Work", "more").Await() })
			return work.Await()
		},
		func(ctx *orch.Context, work *orch.Future) (string, error) {
			ctx.Go(goOn)
			orch.Join(work)
			return "over", errOver
		},
	}
	more = []engine.Event{{}, {Data: eventdata.ActivityScheduled{Name: "Work", Input: "more"}}, {Data: eventdata.OrchestrationChained{Name: "Leaf"}}, {Data: eventdata.ActivityCompleted{Result: "over"}, SourceEventID: 2}, {Data: eventdata.KeyValueSet{Key: "more"}}}
	ends = []engine.EventData{
		nil, eventdata.OrchestrationCompleted{Output: "over"}, eventdata.OrchestrationCompleted{},
		failedWith(eventdata.AppOrchestrationFailed, "over"), failedWith(eventdata.AppOrchestrationFailed, ""), failedWith(eventdata.AppPanicked, "over"), failedWith(eventdata.AppCancelled, ""),
		eventdata.OrchestrationFailed{Details: eventdata.Nondeterminism("text")}, eventdata.OrchestrationContinuedAsNew{Input: "over"}, eventdata.OrchestrationContinuedAsNew{},
	}
)

func goOn(ctx *orch.Context) (string, error) { ctx.ContinueAsNew("over"); return "", nil }

func failedWith(kind eventdata.ApplicationKind, text string) engine.EventData {
	return eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: kind, Message: text}}}
}

// functions matches the names of functions in places: their numbers are the compiler's.
var functions = regexp.MustCompile(`\S+ \(verdicts`)

// verdict returns what is said of a history and its code, and the place in the code.
func verdict(in replay.Input) (text string) {
	says, err := replay.Verify(in)
	for _, part := range []string{says, fmt.Sprint(err), replay.DiffersAt(in)} {
		if part != "" && part != "<nil>" {
			text += ": " + part
		}
	}
	return text
}

// verdicts returns what is said. The last histories are an end alone, an event without data, and none.
func verdicts() string {
	var text strings.Builder
	start, work := eventdata.OrchestrationStarted{Name: "Leaf", Version: "1.0.0"}, eventdata.ActivityScheduled{Name: "Work"}
	for i := range len(codes) * len(more) {
		code, also := codes[i/len(more)], more[i%len(more)]
		fmt.Fprintf(&text, "code %d, more %d\n", i/len(more), i%len(more))
		said, endsOf := []string{}, map[string][]int{} // of ends about which the same is said
		for number, end := range ends {
			in := replay.Input{Build: engine.ShippedBuilds()[0], Instance: "one", ExecutionID: 1, Handler: func(ctx *orch.Context, _ string) (string, error) {
				return code(ctx, ctx.ScheduleActivity("Work", ""))
			}}
			for _, e := range []engine.Event{{Data: start}, {Data: work}, also, {Data: end}} {
				if e.EventID = uint64(len(in.History) + 1); e.Data != nil {
					in.History = append(in.History, e)
				}
			}
			what := verdict(in)
			if endsOf[what] == nil {
				said = append(said, what)
			}
			endsOf[what] = append(endsOf[what], number)
		}
		for _, what := range said {
			fmt.Fprintf(&text, "  ends %v%s\n", endsOf[what], what)
		}
	}
	for _, history := range [][]engine.Event{{{Data: ends[1]}}, {{EventID: 7}}, {{Data: start}}, nil} {
		for _, code := range []orch.Handler{nil, func(*orch.Context, string) (string, error) { return "", nil }} {
			in := replay.Input{Build: engine.ShippedBuilds()[0], History: history, Handler: code}
			fmt.Fprintf(&text, "%v with %t%s\n", history, code != nil, verdict(in))
		}
	}
	return functions.ReplaceAllString(text.String(), "(verdicts")
}
