package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/arena"
	"github.com/durosim/durosim/internal/watchdog"
)

// Arena holds memory that successive turns reuse: their tables and idle coroutines. It does not affect a turn's
// output; it only saves allocations, which account for half the cost of a small turn. Outputs are allocated from it,
// too, and stay valid until Reset.
//
// An Arena is not safe for concurrent use. It must be closed after use, because idle coroutines are never
// garbage-collected.
type Arena struct {
	busy   bool
	spare  *turn                    // the first of those not in use
	stamps map[*engine.Build]string // of recent builds
	hosts  []host                   // unused hosts; see newHost
	// futures holds unused futures for the code.
	futures orch.Futures
	idle    []*coroutine
	// contain is the method value contained.run.
	contain   func()
	contained contained
	watch     *watchdog.Watch
	// The memory for outputs.
	events  arena.Of[engine.Event]
	items   arena.Of[engine.WorkItem]
	pins    arena.Of[engine.Version]
	outputs arena.Of[string]
}

// NewArena returns an empty arena.
func NewArena() *Arena {
	w := &Arena{stamps: map[*engine.Build]string{}}
	w.contain = w.contained.run
	return w
}

// Watch makes w see when code runs.
func (w *Arena) Watch(watch *watchdog.Watch) { w.watch = watch }

// Close ends the idle coroutines. The arena can be used again afterwards.
func (w *Arena) Close() {
	for i, c := range w.idle {
		c.stop()
		w.idle[i] = nil
	}
	w.idle = w.idle[:0]
}

// Reset reclaims the memory of all outputs. They must not be used afterwards.
func (w *Arena) Reset() {
	w.events.Reset()
	w.items.Reset()
	w.pins.Reset()
	w.outputs.Reset()
}

// with calls f with a turn for the input. The turn uses the input's arena. If there is none, or if it is busy
// because a turn's code is computing another turn, the turn uses a new one.
func (in *Input) with(f func(t *turn)) {
	t := in.resumed()
	w := in.Arena
	if w == nil || w.busy {
		w = NewArena()
		defer w.Close()
	}
	w.busy = true
	if t == nil {
		t = w.turn(in)
	}
	f(t)
	if w.busy = false; t.out.Kept != nil {
		t.host.inner = t // not the Watcher, which goes on to other turns
		if w := t.in.Watcher; w != nil {
			w.Over()
		}
		return
	}
	t.host.inner = (*turn)(nil) // invalidates any Context that the code kept
	t.given = Input{}
	t.next, w.spare = w.spare, t
}

// turn returns a turn in its initial state. It reuses the memory of an earlier turn, except for memory that belongs to
// outputs.
func (w *Arena) turn(in *Input) *turn {
	t := w.spare
	if t == nil {
		t = &turn{}
	}
	w.spare = t.next
	clear(t.delta)
	clear(t.futures)
	clear(t.actions)
	delta, sched, crumbs, pending := t.delta[:0], t.sched[:0], t.crumbs[:0], t.pending[:0]
	actions, futures, tasks, made, runnable, waits := t.actions[:0], t.futures[:0], t.tasks[:0], t.made, t.runnable[:0], t.waits.emptied()
	*t = turn{}
	t.given = *in
	t.in, t.info.Instance, t.info.ExecutionID = &t.given, in.Instance, in.ExecutionID
	t.delta, t.sched, t.crumbs, t.pending = delta, sched, crumbs, pending
	t.actions, t.futures, t.tasks, t.made, t.runnable, t.waits = actions, futures, tasks, made, runnable, waits
	t.arena, t.host = w, w.newHost()
	t.host.inner = t
	return t
}

// newHost returns an unused host. It allocates hostsAtOnce of them at a time. A host is never reused, because a Context
// that code has kept must stay invalid.
func (w *Arena) newHost() *host {
	if len(w.hosts) == 0 {
		w.hosts = make([]host, hostsAtOnce)
	}
	h := &w.hosts[0]
	w.hosts = w.hosts[1:]
	return h
}

// hostsAtOnce is small, because a Context that code has kept keeps the whole block alive.
const hostsAtOnce = 16

// stampOf returns the stamp that build b puts on its events: its version as text.
func (w *Arena) stampOf(b *engine.Build) string {
	text, known := w.stamps[b]
	if !known {
		if len(w.stamps) == maxStamps {
			clear(w.stamps)
		}
		text = b.Version.String()
		w.stamps[b] = text
	}
	return text
}

const maxStamps = 16

// Contain runs user code of a subject that has no Context, such as an activity. If the code panics or calls runtime.Goexit, panicked
// is true, text describes what happened, and place is its source location if that is known. A nil arena behaves like an empty one.
func (w *Arena) Contain(s watchdog.Subject, code func()) (text, place string, panicked bool) {
	if w == nil {
		w = NewArena()
		defer w.Close()
	}
	w.contained = contained{code: code}
	c := w.coroutine(w.contain)
	if w.next(c, s) == signalExiting {
		stopAside(c.stop)
	} else {
		w.release(c)
	}
	return w.contained.text, w.contained.place, w.contained.panicked
}

// contained holds the user code of a Contain call, and its outcome.
type contained struct {
	code     func()
	text     string
	place    string
	panicked bool
}

func (c *contained) run() {
	code, returned := c.code, false
	c.code = nil
	defer func() {
		if r := recover(); r != nil {
			c.text, c.place, c.panicked = panicText(r, "with a value that has no text"), panicPlace(), true
		} else if !returned {
			c.text, c.place, c.panicked = Exited, panicPlace(), true
		}
	}()
	code()
	returned = true
}

// ownDelta returns a copy of the turn's events that the caller may keep.
func (t *turn) ownDelta() []engine.Event {
	return append(t.arena.events.Make(len(t.delta)), t.delta...)
}
