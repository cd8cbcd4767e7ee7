package watchdog

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Env is the environment variable with the limit: for how long code may run before it asks for something or returns.
const Env = "DUROSIM_TURN_LIMIT"

// Limit returns the limit that the environment sets, or one second. 0 means that there is none.
func Limit() (time.Duration, error) { return limitOf(Env, time.Second) }

func limitOf(variable string, usual time.Duration) (time.Duration, error) {
	text := os.Getenv(variable)
	if text == "" {
		return usual, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s=%s: expected a duration such as 10s, or 0 for no limit", variable, text)
	}
	return d, nil
}

// Subject is user code that runs for an instance.
type Subject interface {
	// Running returns the name of the code, such as "activity Charge", and its instance.
	Running() (code, instance string)
}

// Watch shows whether user code is running. The goroutine that calls Enter and Leave writes it, and Guard reads it. A nil
// Watch sees nothing.
type Watch struct {
	// switches is odd while code runs, and abandoned once Guard has given the code up.
	switches atomic.Uint64
	subject  Subject
	// goroutine is the number of Guard's goroutine. Code runs on it, or on a coroutine that it has created.
	goroutine string
	used      func() time.Duration // replaces processorTime in tests
}

const abandoned = 1<<64 - 1

// runsOn is the state of code that blocks nowhere.
const runsOn = "it runs on"

var began = time.Now()

// Enter says that code of a subject is about to run. It returns false if code is running already, which then runs this
// code.
func (w *Watch) Enter(s Subject) bool {
	if w == nil {
		return false
	}
	n := w.switches.Load()
	if n%2 == 1 {
		return false
	}
	w.subject = s
	w.switches.Store(n + 1)
	return true
}

// Leave says that the code has come back, and must follow an Enter that returned true. If Guard has given the code up,
// Leave ends the goroutine.
func (w *Watch) Leave() {
	if n := w.switches.Load(); n == abandoned || !w.switches.CompareAndSwap(n, n+1) {
		runtime.Goexit()
	}
}

// looks is how often Guard looks within the limit. Code is stuck if each look finds it in the same call, so a process
// that was stopped for a while, all of it, does not count.
const looks = 10

// guards is the number of calls of Guard that are running.
var guards atomic.Int64

// Guard calls run on a goroutine of its own and waits until it returns. If code blocks, or has a processor to itself, for
// longer than the limit, Guard returns a description of it, and run never goes on: its goroutine and that of the code,
// which cannot be stopped, are left behind. Guard raises a panic of run again, as a *Panic, and it exits its goroutine if
// run does.
func (w *Watch) Guard(limit time.Duration, run func()) *Stuck {
	if limit == 0 {
		run()
		return nil
	}
	guards.Add(1)
	defer guards.Add(-1)
	var raised *Panic
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				raised = &Panic{Value: p, Stack: string(debug.Stack())}
			}
		}()
		w.goroutine = goroutine()
		run()
		returned = true
	}()
	ticker := time.NewTicker(max(limit/looks, 1))
	defer ticker.Stop()
	used := processorTime
	if w.used != nil {
		used = w.used
	}
	for seen, same, since := uint64(0), 0, time.Duration(0); ; {
		select {
		case <-done:
			if raised != nil {
				panic(raised)
			}
			if !returned {
				runtime.Goexit()
			}
			return nil
		case <-ticker.C:
		}
		n := w.switches.Load()
		if n%2 == 0 || n != seen {
			seen, same, since = n, 0, used()
			continue
		}
		if same++; same < looks {
			continue
		}
		state, frames := stackOf(w.goroutine)
		if state == "" || strings.HasPrefix(state, "run") || strings.HasPrefix(state, "GC") {
			// On a busy machine, code can be without a processor for all that time. Threads of a process have equal shares of
			// what it uses.
			if used()-since < limit*time.Duration(min(guards.Load(), int64(runtime.GOMAXPROCS(0)))) {
				continue
			}
			state = runsOn // "runnable" if another goroutine had its processor
		}
		if w.switches.CompareAndSwap(n, abandoned) {
			return w.stuck(limit, state, frames)
		}
	}
}

// goroutine returns the number of the calling goroutine.
func goroutine() string {
	var trace [64]byte
	return strings.Fields(string(trace[:runtime.Stack(trace[:], false)]))[1]
}

// Panic is a panic of a guarded run, with the stack of its goroutine.
type Panic struct {
	Value any
	Stack string
}

// Error returns the text of the panic, and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// PanickedAt returns the function, the file and the line whose panic the caller, a deferred function, has just recovered.
func PanickedAt() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		at, more := frames.Next()
		if !more || !strings.HasPrefix(at.Function, "runtime.") {
			return fmt.Sprintf("%s (%s:%d)", path.Base(at.Function), path.Base(at.File), at.Line)
		}
	}
}

// Stuck describes code that did not come back.
type Stuck struct {
	Code, Instance string
	// Message says what the code does instead, where, and what to do.
	Message string
}

func (w *Watch) stuck(limit time.Duration, state string, frames []string) *Stuck {
	s := &Stuck{}
	s.Code, s.Instance = w.subject.Running()
	measured := "real"
	if state == runsOn {
		measured = "processor"
	}
	s.Message = fmt.Sprintf("the code of %s (instance %s) has run for %s of %s time without coming back", s.Code, s.Instance, limit, measured)
	if state != "" {
		s.Message += " (" + state + ")"
	}
	for _, f := range frames {
		s.Message += "\n  " + f
	}
	kind, _, _ := strings.Cut(s.Code, " ")
	instead := cmp.Or(map[string]string{"activity": "ActivityContext.Sleep makes an activity take longer", "mock": "Mock.Takes and ActivityContext.Sleep make a call take longer"}[kind],
		"it waits for activities, timers and events through its Context")
	s.Message += "\nCode must not block, spin or sleep: " + instead + ". " + Env + "=1m gives it more time, 0 all that it wants"
	return s
}

// inside lists the packages whose functions are between the goroutine's first call and the user's code.
var inside = []string{"created by ", "iter.", "runtime.", "github.com/durosim/durosim/engine/", "github.com/durosim/durosim/internal/watchdog."}

// stackOf returns what the code of a guarded goroutine waits for, and the user's frames, innermost first. The state is
// empty if the code is about to run.
func stackOf(goroutine string) (state string, frames []string) {
	dump := make([]byte, 1<<20)
	for n := runtime.Stack(dump, true); ; n = runtime.Stack(dump, true) {
		if n < len(dump) || n >= 1<<26 {
			dump = dump[:n]
			break
		}
		dump = make([]byte, 4*n)
	}
	stacks := strings.Split(string(dump), "\n\n")
	// A goroutine that waits for its coroutine, or a coroutine that has nothing to run, is in state "coroutine". Code may
	// create coroutines of its own.
	for owners := []string{goroutine}; len(owners) > 0; owners = owners[1:] {
		for _, stack := range stacks {
			number, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
			switch {
			case number != owners[0] && !strings.Contains(stack+"\n", "created by iter.Pull[...] in goroutine "+owners[0]+"\n"):
			case !strings.Contains(stack, "[coroutine"):
				return described(stack)
			case number != owners[0]:
				owners = append(owners, number)
			}
		}
	}
	return "", nil
}

// described returns the state in a stack, and the user's frames.
func described(stack string) (state string, frames []string) {
	lines := strings.Split(stack, "\n")
	_, state, _ = strings.Cut(lines[0], "[")
	state, _, _ = strings.Cut(state, "]")
	state, _, _ = strings.Cut(state, ",") // for how long, which is not known exactly
	for i := 1; i+1 < len(lines); i += 2 {
		call, place := lines[i], strings.TrimSpace(lines[i+1])
		isPrefix := func(prefix string) bool { return strings.HasPrefix(call, prefix) }
		if slices.ContainsFunc(inside, isPrefix) && !strings.Contains(place, "_test.go:") {
			continue
		}
		if at := strings.LastIndexByte(call, '('); at > 0 {
			call = call[:at]
		}
		frames = append(frames, fmt.Sprintf("%s (%s)", call[strings.LastIndexByte(call, '/')+1:], placeOf(place)))
	}
	return state, frames
}

// placeOf returns the file and the line of a frame. An empty loop has no line, and a stack says 1.
func placeOf(frame string) string {
	place, _, _ := strings.Cut(path.Base(frame), " +0x")
	return strings.TrimSuffix(place, ":1")
}
