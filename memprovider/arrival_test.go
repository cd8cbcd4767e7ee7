package memprovider_test

import (
	"testing"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// arrive is the clock of a call that arrives now.
func (w *world) arrive(a arguments) *memprovider.Arrival {
	switch what := a.word(0); what {
	case "fetch":
		return w.store.Arrive(observe.CallFetchOrchestrationItem, "", nil)
	case "hold":
		return w.store.Arrive(observe.CallNone, w.token(a.word(1)), nil)
	case "delete":
		return w.store.Arrive(observe.CallNone, "", nil, a.word(1))
	default:
		a.t.Fatalf("%s: arrives as %q", a.line, what)
		return nil
	}
}

// TestOneClock checks that a store with a single clock panics when its time goes back.
func TestOneClock(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the time went back")
		}
	}()
	newWorld(memprovider.Options{}).play(t, "back 1")
}
