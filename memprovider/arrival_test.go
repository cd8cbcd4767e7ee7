package memprovider_test

import (
	"testing"

	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/memprovider"
)

// arrive is what a call sees that arrives now.
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

// TestArrival: a call that waited inside the store decides by what holds when it takes effect, and its lock counts from
// then. Only the next call is the one that waited.
func TestArrival(t *testing.T) {
	for _, c := range []choice{
		{"a lock counts from the effect", `
			send start:A
			arrive fetch
			wait 4000
			resume
			fetch a lock=5000 -> A#1 x1 [start]
			wait 4999
			fetch b lock=5000 -> none
			wait 1
			fetch b lock=5000 -> A#1 x2 [start]`},
		{"a renewal that waited too long is refused", `
			send start:A
			fetch a lock=5000 -> A#1 x1 [start]
			arrive hold a
			wait 5000
			resume
			renew a 5000 -> perm`},
		{"a fetch goes on when its choice was taken meanwhile", `
			send start:A
			send start:B
			arrive fetch
			fetch a lock=5000 -> A#1 x1 [start]
			resume
			fetch b lock=5000 -> B#1 x1 [start]`},
	} {
		t.Run(c.name, func(t *testing.T) { checkScript(t, newWorld(memprovider.Options{}), c.script) })
	}
}

// TestCallersClock: with the clocks of callers the time goes back, and what was due by a later one is not due any more.
func TestCallersClock(t *testing.T) {
	checkScript(t, newWorld(memprovider.Options{CallersClock: true}), `
		send start:A delay=500
		wait 600
		back 200
		fetch a lock=1000 -> none
		wait 200
		fetch a lock=1000 -> A#1 x1 [start]
		back 200
		fetch b lock=1000 -> none
		wait 1199
		fetch b lock=1000 -> none
		wait 1
		fetch b lock=1000 -> A#1 x2 [start]
		back 300
		abandon b delay=1000
		wait 999
		fetch c lock=1000 -> none
		wait 1
		fetch c lock=1000 -> A#1 x3 [start]`)
	defer func() {
		if recover() == nil {
			t.Error("without the option the time goes back")
		}
	}()
	checkScript(t, newWorld(memprovider.Options{}), "back 1")
}
