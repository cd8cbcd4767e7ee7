package orchtest

import (
	"errors"
	"slices"
	"time"

	"github.com/durosim/durosim/internal/watchdog"
)

// Mock answers the calls of one activity, or the starts of one child orchestration. Its methods return the mock so that
// they can be chained. The answer set last applies from the next call on.
type Mock struct {
	name   string
	answer func(input string) (string, error)
	takes  time.Duration
	inputs []string
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
	m.answer = answer
	return m
}

// Takes sets how long a call lasts in test time. The default is 0.
func (m *Mock) Takes(d time.Duration) *Mock {
	m.takes = d
	return m
}

// Inputs returns the inputs of all calls so far, in order. The caller owns the slice.
func (m *Mock) Inputs() []string { return slices.Clone(m.inputs) }

// call starts a call. It returns stuck if the answer does not come back.
func (m *Mock) call(input string) (result string, err, stuck error) {
	m.inputs = append(m.inputs, input)
	stuck = guarded(func(w *watchdog.Watch) {
		w.Enter(m)
		defer w.Leave()
		result, err = m.answer(input)
	})
	return result, err, stuck
}

// Running implements watchdog.Subject.
func (m *Mock) Running() (code, instance string) { return "mock " + m.name, Instance }
