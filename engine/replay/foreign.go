package replay

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
)

// host is the turn as seen by a Context. It lets through only calls from the running coroutine.
//
// A call from another goroutine, such as one started by a go statement in a handler, would corrupt the turn, and a
// panic in that goroutine would end the process. Such a call therefore does nothing and returns zero values and
// errForeign. At the end of the turn, the orchestration fails. Unless the handler waits for its goroutine, Go's
// scheduler decides whether the call comes before the end of the turn.
type host struct {
	// inner receives the calls that host lets through. It is the turn itself, or a Watcher that forwards to the turn.
	inner orchhost.Host
	ctx   orch.Context // the code's Context
	// running identifies the goroutine of the running coroutine. It is 0 if none is running.
	running atomic.Uintptr
	// strays counts calls from other goroutines.
	strays atomic.Int32
	// strayedAt is the source location of the first of them.
	strayedAt atomic.Pointer[string]
}

// foreignText is the failure message of an orchestration whose Context was used from a foreign goroutine.
const foreignText = "orch: a Context was used from another goroutine than its orchestration's"

var errForeign = errors.New(foreignText)

// maxStrays is the number of calls from stray goroutines that the host tolerates. After that, it ends the calling
// goroutine, which could otherwise loop forever.
const maxStrays = 1000

// foreign reports whether the call comes from a goroutine that runs no coroutine, and counts such calls. A call from
// another orchestration's code or from an activity is not foreign: enter panics on it.
func (h *host) foreign() bool {
	if h.running.Load() == goroutine() || runsCoroutine() {
		return false
	}
	if h.strayedAt.Load() == nil {
		at := placeOf(true)
		h.strayedAt.CompareAndSwap(nil, &at)
	}
	if h.strays.Add(1) > maxStrays {
		runtime.Goexit()
	}
	return true
}

// runsCoroutine reports whether the calling goroutine runs an Arena's coroutine. It is slow.
func runsCoroutine() bool {
	var callers [1 << 10]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "/replay.(*coroutine).body") {
			return true
		}
		if !more {
			return false
		}
	}
}

// failStrays fails the turn if its Context was used from a foreign goroutine.
func (t *turn) failStrays() {
	if t.host.strays.Load() > 0 && t.abort.IsZero() {
		t.abort = engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Message: foreignText}}
		t.out.PanickedAt = *t.host.strayedAt.Load()
	}
}

func (h *host) Info() orchhost.Info {
	if h.foreign() {
		return orchhost.Info{}
	}
	return h.inner.Info()
}

func (h *host) Replaying() bool { return !h.foreign() && h.inner.Replaying() }

func (h *host) Trace(text string) {
	if !h.foreign() {
		h.inner.Trace(text)
	}
}

func (h *host) Schedule(a orchhost.Action) orchhost.Token {
	if h.foreign() {
		return 0
	}
	return h.inner.Schedule(a)
}

func (h *host) ScheduleActivity(name, input, session, tag string) orchhost.Token {
	if h.foreign() {
		return 0
	}
	return h.inner.ScheduleActivity(name, input, session, tag)
}

func (h *host) Spawn(fn func() (string, error)) orchhost.Token {
	if h.foreign() {
		return 0
	}
	return h.inner.Spawn(fn)
}

func (h *host) Await(token orchhost.Token) (string, error) {
	if h.foreign() {
		return "", errForeign
	}
	return h.inner.Await(token)
}

func (h *host) Select(tokens []orchhost.Token) int {
	if h.foreign() {
		return 0
	}
	return h.inner.Select(tokens)
}

func (h *host) Drop(token orchhost.Token) {
	if !h.foreign() {
		h.inner.Drop(token)
	}
}

func (h *host) ContinueAsNew(version, input string) {
	if h.foreign() {
		runtime.Goexit() // the call must not return
	}
	h.inner.ContinueAsNew(version, input)
}

func (h *host) Update(a orchhost.Action) {
	if !h.foreign() {
		h.inner.Update(a)
	}
}

func (h *host) CustomStatus() *string {
	if h.foreign() {
		return nil
	}
	return h.inner.CustomStatus()
}

func (h *host) KV() []engine.KVEntry {
	if h.foreign() {
		return nil
	}
	return h.inner.KV()
}

func (h *host) PruneKV(beforeMs uint64) int {
	if h.foreign() {
		return 0
	}
	return h.inner.PruneKV(beforeMs)
}
