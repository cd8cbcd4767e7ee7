package replay

import (
	"iter"
	"runtime"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/watchdog"
)

// task is one of the turn's coroutines: either the handler, or a child coroutine that the code spawned.
type task struct {
	t         *turn
	fn        func() (string, error) // nil for the handler
	token     orchhost.Token         // the child's future; 0 for the handler
	call      func()                 // the method value c.body, allocated once
	state     taskState
	abandoned bool // the task's future was dropped, so the task is not resumed
	raised    int  // number of panics with orchhost.Over so far

	run *coroutine // nil before the first run and after the end

	value    string
	err      error
	message  string // the text of the error or panic
	place    string // where the code panicked
	panicked bool
}

type taskState uint8

const (
	taskRunnable taskState = iota
	taskSuspended
	taskDone
)

// signal is a value that a coroutine yields: the code is waiting, has ended, or is exiting through runtime.Goexit.
type signal uint8

const (
	signalSuspended signal = iota
	signalDone
	signalExiting
)

// maxRaised is the maximum number of panics with orchhost.Over that the code may recover. After that, runtime.Goexit,
// which cannot be recovered, stops the code.
const maxRaised = 100

// Exited is the text of Arena.Contain for code that called runtime.Goexit, as t.FailNow does. exitedText is that of an
// orchestration.
const (
	Exited     = "called runtime.Goexit"
	exitedText = "orchestration code " + Exited
)

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

// start makes the handler task runnable.
func (t *turn) start() {
	t.host.ctx = *t.arena.futures.NewContext(t.host)
	if w := t.in.Watcher; w != nil {
		t.host.inner = w.Watch(t)
	}
	t.futures = append(t.futures, future{})
	t.due = true
	t.newTask(0, nil)
}

// stopped reports whether the code must no longer be polled.
func (t *turn) stopped() bool { return t.returned || !t.abort.IsZero() }

// poll runs the runnable tasks until there are none, in the order in which they became runnable.
func (t *turn) poll() {
	t.due = false
	if len(t.runnable) == 0 || t.stopped() {
		return
	}
	t.polls++
	for i := 0; i < len(t.runnable) && !t.stopped(); i++ {
		if c := t.runnable[i]; !c.abandoned {
			if c.resume(); t.tearing { // walkInPlace has ended the code
				return
			}
			if t.settle(c); t.walk.inPlace { // walkInPlace has already polled the code
				t.walk.inPlace = false
				return
			}
		}
	}
	t.runnable = t.runnable[:0]
}

// settle records the outcome of a finished task.
func (t *turn) settle(c *task) {
	t.failStrays()
	switch {
	case c.state != taskDone:
	case c.panicked:
		t.abort = engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Message: c.message}}
		if t.rules.NamesPanicPlace {
			t.out.PanickedAt = c.place
		}
	case c.token == 0:
		t.returned = true
	default:
		t.resolve(c.token, c.value, c.err)
		t.due = false
	}
}

// coroutine is a reusable coroutine. It runs the code of successive tasks. The arena creates a new coroutine only
// when none is idle.
type coroutine struct {
	next func() (signal, bool)
	stop func()
	// yield returns control to the caller of next. It is set when the coroutine first runs.
	yield func(signal) bool
	code  func() // the code to run next
	// goroutine identifies the coroutine's goroutine. It is set when the coroutine first runs.
	goroutine uintptr
}

// coroutine returns an idle coroutine, creating one if necessary. It will run code when it is next resumed.
func (w *Arena) coroutine(code func()) *coroutine {
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

// release returns a coroutine to the idle list once its code has ended.
func (w *Arena) release(c *coroutine) {
	c.code = nil
	w.idle = append(w.idle, c)
}

// next resumes a coroutine with code of the subject, which the arena's watch sees running.
func (w *Arena) next(c *coroutine, s watchdog.Subject) signal {
	watched := w.watch.Enter(s)
	came, _ := c.next()
	if watched {
		w.watch.Leave()
	}
	return came
}

// Running implements watchdog.Subject.
func (t *turn) Running() (code, instance string) {
	return "orchestration " + t.info.Name + "@" + t.info.Version, t.in.Instance
}

// body runs the code of successive tasks. If the code calls runtime.Goexit, a deferred call first yields a marker.
// Without the marker, iter.Pull would exit the goroutine that resumed the coroutine.
func (c *coroutine) body(yield func(signal) bool) {
	c.yield, c.goroutine = yield, goroutine()
	defer yield(signalExiting) // has no effect after stop
	for {
		c.code()
		if !yield(signalDone) {
			return
		}
	}
}

// resume runs the task until it suspends or ends. It returns even if the code panics or calls runtime.Goexit.
func (c *task) resume() {
	t := c.t
	if c.run == nil {
		c.run = t.arena.coroutine(c.call)
	}
	t.current = c
	t.host.running.Store(c.run.goroutine) // body set it when the coroutine first ran
	s := t.arena.next(c.run, t)
	t.host.running.Store(0)
	t.current = nil
	if broken := t.walk.broken; broken != nil {
		panic(broken)
	}
	switch s {
	case signalDone:
		c.state = taskDone
		t.arena.release(c.run)
		c.run = nil
	case signalExiting:
		c.state = taskDone
		c.panicked, c.message = true, exitedText
		stopAside(c.run.stop)
		c.run = nil
	}
}

// body runs the code and captures any panic as a value. It also formats the error, because the Error method is user
// code, too.
func (c *task) body() {
	c.t.host.running.Store(c.run.goroutine)
	returned := false
	defer func() {
		switch r := recover(); {
		case r != nil && r != orchhost.Over:
			c.panicked, c.message, c.place = true, panicText(r, "orchestration panicked"), panicPlace()
		case r == nil && !returned && !c.t.tearing:
			c.place = panicPlace() // of a call of runtime.Goexit
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
	c.value, c.err, returned = value, err, true
}

// panicText returns the text of panic value r if r is a string or an error. Otherwise it returns other, because the
// text of other values may differ between runs.
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

// suspend yields control until the task is resumed. It returns false if the turn is over.
func (c *task) suspend() bool {
	c.state = taskSuspended
	t := c.t
	if !t.tearing && len(t.tasks) == 1 && t.walkInPlace() {
		return true
	}
	if !t.tearing {
		c.run.yield(signalSuspended)
	}
	if t.tearing {
		c.raised++
		return false
	}
	return true
}

// raise panics in code that calls its context during teardown. After maxRaised panics, it ends the code with
// runtime.Goexit instead.
func (c *task) raise() {
	if c.raised++; c.raised > maxRaised {
		runtime.Goexit()
	}
	panic(orchhost.Over)
}

// endCode begins the unwinding of the code.
func (t *turn) endCode() {
	t.tearing = true
	if w := t.in.Watcher; w != nil {
		w.Over()
	}
}

// tearDown unwinds the tasks that are still suspended, in creation order. Their deferred calls may still stray.
func (t *turn) tearDown() {
	t.endCode()
	for _, c := range t.tasks {
		if c.run != nil {
			c.resume()
		}
	}
	t.failStrays()
}

// stopAside calls stop on a new goroutine and waits for it, because iter.Pull re-raises a Goexit in whichever goroutine
// calls stop. Besides internal/watchdog, this is the only place below the command line that starts a goroutine
// (docs/architecture.md#coroutines).
func stopAside(stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		stop()
	}()
	<-done
}
