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

// to returns the host that a call goes to.
func (h *host) to() orchhost.Host {
	if h.foreign() {
		return nobody{}
	}
	return h.inner
}

func (h *host) Info() orchhost.Info                        { return h.to().Info() }
func (h *host) Replaying() bool                            { return h.to().Replaying() }
func (h *host) Trace(text string)                          { h.to().Trace(text) }
func (h *host) Schedule(a orchhost.Action) orchhost.Token  { return h.to().Schedule(a) }
func (h *host) Await(token orchhost.Token) (string, error) { return h.to().Await(token) }
func (h *host) Select(tokens []orchhost.Token) int         { return h.to().Select(tokens) }
func (h *host) Drop(token orchhost.Token)                  { h.to().Drop(token) }
func (h *host) ContinueAsNew(version, input string)        { h.to().ContinueAsNew(version, input) }
func (h *host) Update(a orchhost.Action)                   { h.to().Update(a) }
func (h *host) CustomStatus() *string                      { return h.to().CustomStatus() }
func (h *host) KV() []engine.KVEntry                       { return h.to().KV() }
func (h *host) PruneKV(beforeMs uint64) int                { return h.to().PruneKV(beforeMs) }

func (h *host) Spawn(fn func() (string, error)) orchhost.Token { return h.to().Spawn(fn) }
func (h *host) ScheduleActivity(name, input, session, tag string) orchhost.Token {
	return h.to().ScheduleActivity(name, input, session, tag)
}

// nobody is the host of foreign calls.
type nobody struct{}

func (nobody) Info() orchhost.Info                               { return orchhost.Info{} }
func (nobody) Replaying() bool                                   { return false }
func (nobody) Trace(string)                                      {}
func (nobody) Schedule(orchhost.Action) orchhost.Token           { return 0 }
func (nobody) ScheduleActivity(_, _, _, _ string) orchhost.Token { return 0 }
func (nobody) Spawn(func() (string, error)) orchhost.Token       { return 0 }
func (nobody) Await(orchhost.Token) (string, error)              { return "", errForeign }
func (nobody) Select([]orchhost.Token) int                       { return 0 }
func (nobody) Drop(orchhost.Token)                               {}
func (nobody) ContinueAsNew(_, _ string)                         { runtime.Goexit() } // it must not return
func (nobody) Update(orchhost.Action)                            {}
func (nobody) CustomStatus() *string                             { return nil }
func (nobody) KV() []engine.KVEntry                              { return nil }
func (nobody) PruneKV(uint64) int                                { return 0 }
