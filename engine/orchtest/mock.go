package orchtest

import (
	"errors"
	"slices"
	"time"
)

// Mock answers the calls of one activity, or the starts of one child orchestration, by name. Its methods return it, so
// that they can be chained; the last answer set applies from the next call on.
type Mock struct {
	answer func(input string) (string, error)
	takes  time.Duration
	inputs []string
}

// Returns makes each call succeed with the result.
func (m *Mock) Returns(result string) *Mock {
	return m.Does(func(string) (string, error) { return result, nil })
}

// Fails makes each call fail with the text.
func (m *Mock) Fails(text string) *Mock {
	return m.Does(func(string) (string, error) { return "", errors.New(text) })
}

// Does makes each call return what the function returns. It is called when the call begins, in the test's goroutine.
func (m *Mock) Does(answer func(input string) (string, error)) *Mock {
	m.answer = answer
	return m
}

// Takes sets how long a call lasts, in test time; the default is 0.
func (m *Mock) Takes(d time.Duration) *Mock {
	m.takes = d
	return m
}

// Inputs returns the inputs of the calls that have begun, in order. The caller owns the slice.
func (m *Mock) Inputs() []string { return slices.Clone(m.inputs) }

// call starts a call.
func (m *Mock) call(input string) (string, error) {
	m.inputs = append(m.inputs, input)
	return m.answer(input)
}
