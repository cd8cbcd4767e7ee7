package orchtest

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
)

// Mock answers the calls of one activity, or the starts of one child orchestration. Its methods return the mock so that
// they can be chained. The answer set last applies from the next call on.
type Mock struct {
	env    *Env
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
	m.env.t.Helper()
	m.env.refuse(answer == nil, "Does(nil) of %s: expected a function", m.name)
	return m.Runs(func(_ node.ActivityContext, input string) (string, error) { return answer(input) })
}

// Runs makes calls run an activity's own code, as Does would, with a context of the call. Its Sleep takes test time. A
// child's context has no more than a name.
func (m *Mock) Runs(code node.Activity) *Mock {
	m.env.t.Helper()
	m.env.refuse(code == nil, "Runs(nil) of %s: expected a function", m.name)
	m.answer = code
	return m
}

// Takes sets how long a call lasts in test time. The default is 0.
func (m *Mock) Takes(d time.Duration) *Mock {
	m.env.t.Helper()
	m.env.refuse(d < 0, "Takes(%v) of %s: a call cannot end before it begins", d, m.name)
	m.takes = d
	return m
}

// Inputs returns the inputs of all calls so far, in order. The caller owns the slice.
func (m *Mock) Inputs() []string { return slices.Clone(m.inputs) }

// call runs a call, which fails the test if the answer does not come back, and returns when the call ends. If the answer
// panics, err has the text.
func (e *Env) call(m *Mock, ctx node.ActivityContext, input string) (result string, atMs uint64, panicked bool, err error) {
	e.t.Helper()
	m.inputs = append(m.inputs, input)
	takes := m.takes
	in := replay.Input{}
	if stuck := inArena(&in, func() error {
		var text, place string
		text, place, panicked = in.Arena.Contain(m, func() { result, err = m.answer(ctx.WithSleep(&takes), input) })
		switch {
		case panicked && text == replay.Exited: // the test ends, as by t.Fatal
			runtime.Goexit()
		case panicked:
			err, e.raised, e.raisedAt = errors.New(text), text, place
		}
		return nil
	}); stuck != nil {
		e.t.Fatalf("orchtest: %v", stuck)
	}
	return result, e.nowMs + uint64(takes.Milliseconds()), panicked, err
}

// Running implements watchdog.Subject.
func (m *Mock) Running() (code, instance string) { return "mock " + m.name, Instance }
