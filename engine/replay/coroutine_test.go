package replay

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/sample"
)

func input(h orch.Handler) Input {
	return Input{
		Build: build("1.5.0"), Instance: "p", ExecutionID: 1, NowMs: 1000, Handler: h,
		Start: &Start{Name: "P", Version: "1.0.0", Input: "in"},
	}
}

func mustTurn(t testing.TB, in Input) Output {
	t.Helper()
	return sample.Must(Turn(in))(t)
}

// leaves fails the test if goroutines started by f are still running when f returns.
func leaves(t *testing.T, f func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	f()
	for range 5_000_000 { // a goroutine that has ended may take a moment to disappear, and may be preempted
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func TestTeardownRunsDeferredCalls(t *testing.T) {
	leaves(t, func() {
		var log []string
		out := mustTurn(t, input(func(c *orch.Context, _ string) (string, error) {
			defer func() { log = append(log, "outer") }()
			child := c.Go(func(c *orch.Context) (string, error) {
				defer func() { log = append(log, "child") }()
				return c.ScheduleTimer(second).Await()
			})
			defer child.Drop() // panics again, which must not hide the outer call
			return c.ScheduleActivity("a", "").Await()
		}))
		if got := strings.Join(log, " "); got != "outer child" {
			t.Errorf("deferred calls ran as %q", got)
		}
		if out.Result != ResultContinue || len(out.Cancelled) > 0 || len(out.Delta) != 3 {
			t.Errorf("teardown is part of the turn: %+v", out)
		}
	})
}

// TestTeardownOfStubbornCode checks that code that recovers every panic and keeps calling its context is stopped.
func TestTeardownOfStubbornCode(t *testing.T) {
	leaves(t, func() {
		calls := 0
		try := func(f func()) {
			defer func() { _ = recover() }()
			calls++
			f()
		}
		out := mustTurn(t, input(func(c *orch.Context, _ string) (string, error) {
			f := c.ScheduleActivity("a", "")
			defer func() {
				for {
					try(func() { c.ScheduleActivity("from a deferred call", "") })
				}
			}()
			for {
				try(func() { f.Await() })
			}
		}))
		if out.Result != ResultContinue || len(out.Delta) != 2 {
			t.Errorf("got %+v", out)
		}
		if calls != maxRaised+2 { // the call that suspends, the call in the deferred function, and those in between
			t.Errorf("the code made %d calls", calls)
		}
	})
}

func TestTeardownOfCodeThatReturnsOrPanics(t *testing.T) {
	leaves(t, func() {
		for _, after := range []func(){
			func() {},
			func() { panic("instead") },
			func() { panic(errors.New("instead")) },
			func() { runtime.Goexit() },
		} {
			out := mustTurn(t, input(func(c *orch.Context, _ string) (text string, err error) {
				defer func() {
					_ = recover()
					after()
				}()
				return c.ScheduleActivity("a", "").Await()
			}))
			if out.Result != ResultContinue || len(out.Delta) != 2 {
				t.Errorf("got %+v", out)
			}
		}
	})
}

func TestGoexitIsAFailure(t *testing.T) {
	for _, c := range []struct {
		name string
		h    orch.Handler
	}{
		{"at once", func(*orch.Context, string) (string, error) { runtime.Goexit(); return "", nil }},
		{"in a child", func(c *orch.Context, _ string) (string, error) {
			c.Go(func(*orch.Context) (string, error) { runtime.Goexit(); return "", nil })
			return c.ScheduleActivity("a", "").Await()
		}},
		{"in a deferred call", func(c *orch.Context, _ string) (string, error) {
			defer runtime.Goexit()
			panic("hidden")
		}},
		{"with a deferred panic", func(c *orch.Context, _ string) (string, error) {
			defer func() { _ = recover() }()
			defer func() { panic("recovered") }()
			runtime.Goexit()
			return "", nil
		}},
		{"like a failed test", func(*orch.Context, string) (string, error) {
			(&testing.T{}).SkipNow()
			return "", nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			leaves(t, func() {
				out := mustTurn(t, input(c.h))
				if out.Result != ResultFailed || out.Details.Application == nil || out.Details.Application.Kind != eventdata.AppPanicked ||
					out.Details.Application.Message != exitedText || !strings.Contains(out.PanickedAt, "(coroutine_test.go:") {
					t.Errorf("got %v %q at %q", out.Result, out.Details.Display(), out.PanickedAt)
				}
			})
		})
	}
}

func TestDeferredCallsOfGoexitMaySuspend(t *testing.T) {
	leaves(t, func() {
		h := func(c *orch.Context, _ string) (string, error) {
			defer func() { c.ScheduleActivity("clean up", "").Await() }()
			runtime.Goexit()
			return "", nil
		}
		in := input(h)
		out := mustTurn(t, in)
		if out.Result != ResultContinue || len(out.WorkerItems) != 1 {
			t.Fatalf("got %+v", out)
		}
		in.History = out.Delta
		in.Messages = []engine.WorkItem{engine.ActivityCompletedItem{Instance: "p", ExecutionID: 1, ID: 2}}
		if out = mustTurn(t, in); out.Result != ResultFailed {
			t.Errorf("got %+v", out)
		}
	})
}

// TestPanicOfARule checks what happens if a rule panics. The walk continues on the stack of the waiting code, but the
// panic is not the code's, and the code must not be able to recover it.
func TestPanicOfARule(t *testing.T) {
	var log []string
	in := input(func(c *orch.Context, _ string) (_ string, err error) {
		defer func() {
			if r := recover(); r != nil {
				log = append(log, fmt.Sprint("recovered ", r))
			}
		}()
		first := c.ScheduleActivity("a", "")
		_, _ = first.Await()
		log = append(log, "went on")
		return c.ScheduleActivity("b", "").Await()
	})
	rules := DefaultRules()
	in.Start, in.Rules = nil, &rules
	in.History = append(started(), engine.Event{EventID: 2, Data: eventdata.ActivityScheduled{Name: "a"}},
		engine.Event{EventID: 3, SourceEventID: 2, Data: eventdata.ActivityCompleted{}})
	mustTurn(t, in)
	rules.Recipient = func(orchhost.Token, func() []orchhost.Token) orchhost.Token { panic("of a rule") }
	sample.Panics(t, "of a rule", func() { _, _ = Turn(in) })
	if got := strings.Join(log, ", "); got != "went on, recovered orch: the turn is over" {
		t.Errorf("the code saw: %s", got)
	}
}

func TestPanicTexts(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{"text", "text"}, {errors.New("error"), "error"}, {badError{}, "orchestration panicked"},
		{7, "orchestration panicked"}, {&c7{}, "orchestration panicked"},
	} {
		out := mustTurn(t, input(func(*orch.Context, string) (string, error) { panic(c.value) }))
		if got := out.Details.Application.Message; got != c.want {
			t.Errorf("panic(%T): %q, want %q", c.value, got, c.want)
		}
	}
}

type c7 struct{}

type badError struct{}

func (badError) Error() string { panic("no text") }

// TestErrorTextIsTheCodes checks that a returned error's Error method runs where a panic is attributed to the code.
func TestErrorTextIsTheCodes(t *testing.T) {
	out := mustTurn(t, input(func(*orch.Context, string) (string, error) { return "", badError{} }))
	if out.Result != ResultFailed || out.Details.Application.Kind != eventdata.AppPanicked || out.Details.Application.Message != "no text" {
		t.Errorf("got %+v", out)
	}
}

// TestContextAfterItsTurnPanics uses a context in an activity and in another orchestration's code.
func TestContextAfterItsTurnPanics(t *testing.T) {
	var kept *orch.Context
	var future *orch.Future
	mustTurn(t, input(func(c *orch.Context, _ string) (string, error) {
		kept, future = c, c.ScheduleActivity("a", "")
		return "", nil
	}))
	for i, f := range []func(){
		func() { kept.ScheduleActivity("b", "") },
		func() { future.Await() },
		func() { future.Drop() },
		func() { kept.InstanceID() },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			var w *Arena
			if text, _, panicked := w.Contain(nil, f); !panicked || text != "orch: a Context was used outside its turn" {
				t.Errorf("panic %v, %q", panicked, text)
			}
		})
	}
}
