package replay

import (
	"iter"
	"runtime"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/orchhost"
)

// task is a coroutine of the turn: the handler's, or that of a child which the code started.
type task struct {
	t         *turn
	fn        func() (string, error) // nil for the handler
	token     orchhost.Token         // of the child's future, 0 for the handler
	call      func()                 // the method value body, allocated once
	state     taskState
	abandoned bool // its future was dropped; it is not resumed
	raised    int  // how often it was told that the turn is over

	run *coroutine // nil until it first runs, and once it is done

	value    string
	err      error
	message  string // the error's or the panic's text
	place    string // where it panicked
	panicked bool
}

type taskState uint8

const (
	taskRunnable taskState = iota
	taskSuspended
	taskDone
)

// signal is the value that a coroutine yields: its code waits, has ended, or is being ended by runtime.Goexit.
type signal uint8

const (
	signalSuspended signal = iota
	signalDone
	signalExiting
)

// maxRaised is the number of panics with orchhost.Over that code may recover before runtime.Goexit, which cannot be recovered,
// ends it.
const maxRaised = 100

// exitedText is the panic text of code that called runtime.Goexit, as a failed test does.
const exitedText = "orchestration code called runtime.Goexit"

func (t *turn) newTask(token orchhost.Token, fn func() (string, error)) *task {
	n := len(t.tasks)
	if n == len(t.made) {
		t.made = append(t.made, &task{})
	}
	c := t.made[n]
	*c = task{t: t, token: token, fn: fn, call: c.call}
	if c.call == nil {
		c.call = c.body
	}
	t.tasks = append(t.tasks, c)
	t.runnable = append(t.runnable, c)
	return c
}

// start makes the handler runnable.
func (t *turn) start() {
	t.host.ctx = *orch.NewContext(t.host)
	if w := t.in.Watcher; w != nil {
		t.host.inner = w.Watch(t)
	}
	t.futures = append(slices.Grow(t.futures, t.schedules+4), future{})
	t.due = true
	t.newTask(0, nil)
}

// stopped reports whether the code must no longer be polled.
func (t *turn) stopped() bool { return t.returned || !t.abort.IsZero() }

// poll runs the tasks that can go on, one at a time in the order in which they became runnable, until none can.
func (t *turn) poll() {
	t.due = false
	if len(t.runnable) == 0 || t.stopped() {
		return
	}
	t.polls++
	for i := 0; i < len(t.runnable) && !t.stopped(); i++ {
		if c := t.runnable[i]; !c.abandoned {
			c.resume()
			if t.settle(c); t.walk.inPlace { // this poll ended there
				t.walk.inPlace = false
				return
			}
		}
	}
	t.runnable = t.runnable[:0]
}

// settle records the end of a task that has ended.
func (t *turn) settle(c *task) {
	t.failStrays()
	switch {
	case c.state != taskDone:
	case c.panicked:
		t.abort = engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Message: c.message}}
		t.out.PanickedAt = c.place
	case c.token == 0:
		t.returned = true
	default:
		t.resolve(c.token, c.value, c.err)
		t.due = false
	}
}

// coroutine runs the code of one task after another. A new one is created only if none is idle.
type coroutine struct {
	next func() (signal, bool)
	stop func()
	// yield hands control back; it is set when the coroutine first runs.
	yield func(signal) bool
	code  func() // the next code to run
	// goroutine is the coroutine's own, set when it first runs.
	goroutine uintptr
}

// coroutine returns an idle coroutine, or a new one, that will run code next.
func (w *Workspace) coroutine(code func()) *coroutine {
	if n := len(w.idle); n > 0 {
		c := w.idle[n-1]
		w.idle[n-1] = nil
		w.idle = w.idle[:n-1]
		c.code = code
		return c
	}
	c := &coroutine{code: code}
	c.next, c.stop = iter.Pull(c.body)
	return c
}

// release takes back a coroutine whose code has ended.
func (w *Workspace) release(c *coroutine) {
	c.code = nil
	w.idle = append(w.idle, c)
}

// body runs code after code. When the code calls runtime.Goexit, the deferred call yields a marker first: iter.Pull
// would otherwise exit the goroutine that resumed it.
func (c *coroutine) body(yield func(signal) bool) {
	c.yield, c.goroutine = yield, goroutine()
	ended := false
	defer func() {
		if !ended {
			yield(signalExiting)
		}
	}()
	for {
		c.code()
		if !yield(signalDone) {
			ended = true
			return
		}
	}
}

// resume runs the task until it suspends or ends. Whatever the code does, resume returns.
func (c *task) resume() {
	t := c.t
	if c.run == nil {
		c.run = t.workspace.coroutine(c.call)
	}
	t.current = c
	t.host.running.Store(c.run.goroutine) // body sets it at the first run
	s, _ := c.run.next()
	t.host.running.Store(0)
	t.current = nil
	if broken := t.walk.broken; broken != nil {
		panic(broken)
	}
	switch s {
	case signalDone:
		c.state = taskDone
		t.workspace.release(c.run)
		c.run = nil
	case signalExiting:
		c.state = taskDone
		c.panicked, c.message = true, exitedText
		stopAside(c.run.stop)
		c.run = nil
	}
}

// body runs the code; a panic becomes a value. The error's text is read here too, since its Error method is user code.
func (c *task) body() {
	c.t.host.running.Store(c.run.goroutine)
	defer func() {
		if r := recover(); r != nil && r != orchhost.Over {
			c.panicked, c.message, c.place = true, panicText(r, "orchestration panicked"), panicPlace()
		}
	}()
	var value string
	var err error
	if c.fn != nil {
		value, err = c.fn()
	} else {
		value, err = c.t.in.Handler(&c.t.host.ctx, c.t.input)
	}
	if err != nil {
		c.message = err.Error()
	}
	c.value, c.err = value, err
}

// panicText returns the text of a panic: a string or an error's text. Other values have no text that is the same in
// every run; for them it returns other.
func panicText(r any, other string) (text string) {
	defer func() {
		if recover() != nil {
			text = other
		}
	}()
	switch r := r.(type) {
	case string:
		return r
	case error:
		return r.Error()
	}
	return other
}

// suspend yields control until the task is resumed; it returns false if the turn is over.
func (c *task) suspend() bool {
	c.state = taskSuspended
	if t := c.t; !t.walk.over && len(t.tasks) == 1 && t.walkInPlace() {
		return true
	}
	c.run.yield(signalSuspended)
	if c.t.tearing {
		c.raised++
		return false
	}
	return true
}

// raise ends code that calls its context during teardown. Code that recovers the panic and calls again is stopped
// permanently after maxRaised panics.
func (c *task) raise() {
	if c.raised++; c.raised > maxRaised {
		runtime.Goexit()
	}
	panic(orchhost.Over)
}

// tearDown unwinds the code that is still suspended, in the order in which the tasks were created.
func (t *turn) tearDown() {
	t.tearing = true
	if w := t.in.Watcher; w != nil {
		w.Over()
	}
	for _, c := range t.tasks {
		if c.run != nil {
			c.resume()
		}
	}
}

func recovered(code func()) (text string, panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			text, panicked = panicText(r, "with a value that has no text"), true
		}
	}()
	code()
	return "", false
}

// stopAside calls stop on a goroutine of its own and waits for it: iter.Pull re-raises a Goexit in whoever calls stop.
// This is the one place below the command line that starts a goroutine (docs/architecture.md#coroutines).
func stopAside(stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		stop()
	}()
	<-done
}
