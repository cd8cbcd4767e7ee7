package orchtest

import (
	"errors"
	"slices"
	"time"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/watchdog"
)

// Mock answers the calls of one activity, or the starts of one child orchestration. Its methods return the mock so that
// they can be chained. The answer set last applies from the next call on.
type Mock struct {
	name   string
	answer node.Activity
	takes  time.Duration
	inputs []string

	optional bool
}

// Optional lets the test pass although the mock is never called.
func (m *Mock) Optional() *Mock {
	m.optional = true
	return m
}

// Returns makes calls succeed with the given result.
func (m *Mock) Returns(result string) *Mock {
	return m.Does(func(string) (string, error) { return result, nil })
}

// Fails makes calls fail with the given text.
func (m *Mock) Fails(text string) *Mock {
	return m.Does(func(string) (string, error) { return "", errors.New(text) })
}

// Does makes calls return whatever answer returns. The function is called when a call begins, while the test waits.
func (m *Mock) Does(answer func(input string) (string, error)) *Mock {
	return m.Runs(func(_ node.ActivityContext, input string) (string, error) { return answer(input) })
}

// Runs makes calls run an activity's own code, as Does would, with a context of the call. Its Sleep takes test time. A
// child's context has no more than a name.
func (m *Mock) Runs(code node.Activity) *Mock {
	m.answer = code
	return m
}

// Takes sets how long a call lasts in test time. The default is 0.
func (m *Mock) Takes(d time.Duration) *Mock {
	m.takes = d
	return m
}

// Inputs returns the inputs of all calls so far, in order. The caller owns the slice.
func (m *Mock) Inputs() []string { return slices.Clone(m.inputs) }

// call runs a call, which fails the test if the answer does not come back, and returns when the call ends.
func (e *Env) call(m *Mock, ctx node.ActivityContext, input string) (result string, atMs uint64, err error) {
	e.t.Helper()
	m.inputs = append(m.inputs, input)
	takes := m.takes
	if stuck := guarded(func(w *watchdog.Watch) {
		w.Enter(m)
		defer w.Leave()
		result, err = m.answer(ctx.WithSleep(&takes), input)
	}); stuck != nil {
		e.t.Fatalf("orchtest: %v", stuck)
	}
	return result, e.nowMs + uint64(takes.Milliseconds()), err
}

// Running implements watchdog.Subject.
func (m *Mock) Running() (code, instance string) { return "mock " + m.name, Instance }
