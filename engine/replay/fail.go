package replay

import "github.com/durosim/durosim/engine"

// Fail ends an execution with an error from outside its code: poison, a limit, a storage failure. The code is not run
// and needs no handler; no message leaves an event, all but the execution's own start are dropped by DropFailed. What
// runs is cancelled and the parent is told, as at any other end. An execution without history gets its first event too.
func Fail(in Input, details engine.ErrorDetails) (Output, error) {
	t := newTurn(&in)
	if err := t.begin(); err != nil {
		return Output{}, err
	}
	if t.ended {
		t.dropAll()
		return t.out, nil
	}
	start := t.startMessage()
	for i, m := range in.Messages {
		if i == start {
			continue
		}
		t.drop(i, DropFailed)
		if s, ok := m.(engine.StartItem); ok {
			t.refuse(s)
		}
	}
	t.abort = details
	t.finish()
	return t.out, nil
}
