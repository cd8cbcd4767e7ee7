package replay

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// code is the part of a turn that runs the orchestration's code. It implements orch.Host.
type code struct {
	arena     *Arena
	host      *host
	actions   []action // a queue
	claimed   int      // actions matched with or written as events so far
	emissions int      // actions and child coroutines emitted so far
	calls     int      // Context calls so far
	futures   []future // indexed by token; index 0 is unused
	drops     bool     // the code has dropped a future
	tasks     []*task  // in creation order; the first runs the handler
	made      []*task  // tasks, plus reusable tasks of earlier turns
	runnable  []*task  // a queue
	current   *task
	replaying bool
	due       bool // the walk has delivered something new to the code
	tearing   bool
	returned  bool  // the handler has returned
	order     []int // see position
	left      int   // where the walk stopped because the code or the history had ended
	verifying bool  // see Verify
	// places lists the locations of the calls that made the actions in the queue, and place is that of the last action
	// taken from it.
	places    []string
	place     string
	waits     waitTable
	queues    queues
	polls     int
	pollLimit int  // see convert
	wrote     bool // convertOn has written or asked for a poll, and has yet to look at the limit
}

type future struct {
	state  futureState
	wait   waitKind // set for a wait, which gets its result when it is awaited
	pos    int32    // position of the schedule event; -1 if there is none yet
	owner  *task
	child  *task // set for the future of a child coroutine
	raced  bool  // the future has won a Select
	value  string
	err    error
	waiter *task
	more   []*task
}

// waitKind tells whether a future is a wait, and of which kind.
type waitKind uint8

const (
	noWait waitKind = iota
	waitPositional
	waitQueue
)

type futureState uint8

const (
	futurePending futureState = iota
	futureResolved
	futureDropped
)

// Limits on one turn of the code, including replay: on scheduled operations, including child coroutines, and on Context
// calls. A call that exceeds either limit panics.
const (
	maxActions       = 1 << 15
	tooManyText      = "orch: more than 32768 schedules in one turn"
	maxCalls         = 1 << 22
	tooManyCallsText = "orch: more than 4194304 calls of a Context in one turn"
)

// enter must be the first call in every Context method.
func (t *turn) enter() *task {
	if t == nil || t.current == nil {
		panic("orch: a Context was used outside its turn")
	}
	c := t.current
	if t.tearing {
		c.raise()
	}
	if t.calls++; t.calls > maxCalls {
		if t.calls > maxCalls+maxRaised { // the code keeps recovering the panics
			runtime.Goexit()
		}
		panic(tooManyCallsText)
	}
	return c
}

// Info implements orch.Host, as do all exported methods of turn.
func (t *turn) Info() orchhost.Info {
	t.enter()
	return t.info
}

func (t *turn) Replaying() bool {
	t.enter()
	return t.rules.IsReplaying(t.replaying, len(t.in.History) > 0)
}

func (t *turn) Trace(text string) {
	t.enter()
	t.out.Traces = append(t.out.Traces, text)
}

func (t *turn) Schedule(a orchhost.Action) orchhost.Token { return t.schedule(t.enter(), a) }

// ScheduleActivity does what Schedule does for an activity, and writes the action in place.
func (t *turn) ScheduleActivity(name, input, session, tag string) orchhost.Token {
	owner := t.enter()
	if t.rules.Code != nil {
		return t.schedule(owner, orchhost.Action{Kind: orchhost.ActionActivity, Name: name, Input: input, Session: session, Tag: tag})
	}
	token := t.newFuture(owner)
	a := t.newAction()
	a.token, a.Kind, a.Name, a.Input, a.Session, a.Tag = token, orchhost.ActionActivity, name, input, session, tag
	a.Instance, a.Version, a.Topic, a.Delay = "", "", "", 0 // of an earlier action
	return token
}

func (t *turn) schedule(owner *task, a orchhost.Action) orchhost.Token {
	if a.Kind == orchhost.ActionDetached || a.Kind == orchhost.ActionSubOrchestration {
		makeStorable(&a) // texts below quote the instance; claim and write do it for the other kinds
	}
	if t.rules.Code != nil {
		now := t.rules.Code(a)
		for i := range now[:len(now)-1] { // nothing awaits their results
			t.emit(&now[i], t.newFuture(owner))
		}
		a = now[len(now)-1]
	}
	if a.Kind == orchhost.ActionDetached {
		if t.in.Build.OwnChildIDs && (strings.HasPrefix(a.Instance, eventdata.ChildPrefix) || strings.Contains(a.Instance, "::"+eventdata.ChildPrefix)) {
			panic(fmt.Sprintf("orch: instance %q: %q is reserved for children", a.Instance, eventdata.ChildPrefix))
		}
		t.emit(&a, 0)
		return 0
	}
	token := t.newFuture(owner)
	if a.Kind == orchhost.ActionSubOrchestration && t.in.Build.OwnChildIDs && strings.HasPrefix(a.Instance, eventdata.ChildPrefix) {
		f := &t.futures[token]
		f.state, f.err = futureResolved, fmt.Errorf("child %q: %q is reserved for automatic ids", a.Instance, eventdata.ChildPrefix)
		return token
	}
	switch a.Kind {
	case orchhost.ActionWait, orchhost.ActionWait2:
		t.futures[token].wait = waitPositional
	case orchhost.ActionDequeue:
		t.futures[token].wait = waitQueue
	}
	t.emit(&a, token)
	if a.Kind == orchhost.ActionTimer && t.semantics() == engine.SemanticsEagerTimers {
		t.emit(&a, 0)
	}
	return token
}

func (t *turn) Spawn(fn func() (string, error)) orchhost.Token {
	owner := t.enter()
	t.countEmission()
	token := t.newFuture(owner)
	c := t.newTask(token, fn)
	t.futures[token].child = c
	return token
}

func (t *turn) Await(token orchhost.Token) (string, error) {
	c := t.enter()
	if t.futures[token].state == futureDropped {
		panic("orch: Await of a dropped future")
	}
	for !t.ready(token) {
		t.watch(token, c)
		if !c.suspend() {
			return "", orchhost.Over
		}
	}
	f := &t.futures[token]
	if f.state == futurePending { // a wait whose event has arrived
		f.state = futureResolved
		if f.wait == waitQueue {
			q, i, message := t.queueMessage(int(f.pos))
			f.value = q.messages[message].data
			q.take(i, message)
		} else {
			f.value, _ = t.waits.result(int(f.pos))
			t.waits.consume(int(f.pos))
		}
	}
	if f.raced {
		return t.rules.RacedResult(f.value), f.err
	}
	return f.value, f.err
}

func (t *turn) Select(tokens []orchhost.Token) int {
	c := t.enter()
	for _, token := range tokens {
		if t.futures[token].state == futureDropped {
			panic("orch: Select of a dropped future")
		}
	}
	ready := func(i int) bool { return t.ready(tokens[i]) }
	winner := t.rules.Winner(t.replaying, len(tokens), ready)
	for winner < 0 {
		for _, token := range tokens {
			t.watch(token, c)
		}
		if !c.suspend() {
			return -1
		}
		winner = t.rules.Winner(t.replaying, len(tokens), ready)
	}
	for _, token := range tokens {
		if token != tokens[winner] {
			t.giveUp(token)
		}
	}
	t.futures[tokens[winner]].raced = true
	return winner
}

func (t *turn) Drop(token orchhost.Token) {
	t.enter()
	t.giveUp(token)
}

func (t *turn) ContinueAsNew(version, input string) {
	c := t.enter()
	a := orchhost.Action{Kind: orchhost.ActionContinueAsNew, Version: version, Input: input}
	makeStorable(&a)
	t.emit(&a, 0)
	for c.suspend() {
	}
	panic(orchhost.Over)
}

func (t *turn) newFuture(owner *task) orchhost.Token {
	n := len(t.futures)
	if n == cap(t.futures) {
		t.futures = slices.Grow(t.futures, 1)
	}
	t.futures = t.futures[:n+1] // the new one is zero; see reset
	f := &t.futures[n]
	f.pos, f.owner = -1, owner
	return orchhost.Token(n)
}

// ready reports whether the future has a result. It has no side effects.
func (t *turn) ready(token orchhost.Token) bool {
	f := &t.futures[token]
	if f.state == futurePending && f.wait != noWait && f.pos >= 0 {
		if f.wait == waitQueue {
			_, _, message := t.queueMessage(int(f.pos))
			return message >= 0
		}
		_, ok := t.waits.result(int(f.pos))
		return ok
	}
	return f.state == futureResolved
}

// watch makes the task runnable once the future has a result.
func (t *turn) watch(token orchhost.Token, c *task) {
	switch f := &t.futures[token]; {
	case f.waiter == nil:
		f.waiter = c
	case f.waiter != c:
		f.more = append(f.more, c)
	}
}

func (t *turn) wake(token orchhost.Token) {
	f := &t.futures[token]
	t.makeRunnable(f.waiter)
	for _, c := range f.more {
		t.makeRunnable(c)
	}
	f.waiter, f.more = nil, nil
}

func (t *turn) makeRunnable(c *task) {
	if c != nil && c.state == taskSuspended {
		c.state = taskRunnable
		t.runnable = append(t.runnable, c)
	}
}

// resolve sets a future's result. It does nothing if the future was dropped.
func (t *turn) resolve(token orchhost.Token, value string, err error) {
	t.due = true
	if f := &t.futures[token]; token != 0 && f.state == futurePending {
		f.state, f.value, f.err = futureResolved, value, err
		t.wake(token)
	}
}

// giveUp drops a future that has no result. If it is a child coroutine's future, giveUp also drops that child's
// futures.
func (t *turn) giveUp(token orchhost.Token) {
	f := &t.futures[token]
	if f.state != futurePending {
		return
	}
	f.state, t.drops = futureDropped, true
	if t.discards() {
		t.unsubscribe(int(f.pos)) // if it is a wait that has an event
	}
	c := f.child
	if c == nil {
		return
	}
	c.abandoned = true
	for i := 1; i < len(t.futures); i++ {
		if t.futures[i].owner == c {
			t.giveUp(orchhost.Token(i))
		}
	}
}

func (t *turn) subscribe(key waitKey, pos int, token orchhost.Token) {
	t.served(t.waits.subscribe(key, pos, token), true)
}

func (t *turn) arrive(key waitKey, data string) {
	if w := t.waits.arrive(key, data); w != nil {
		t.served(w, true)
	}
}

// unsubscribe cancels a wait or dequeue; repeating it has no effect. An arrival freed by the cancellation goes to the
// next wait or dequeue. The code sees it once all consecutive breadcrumbs have been applied. Under the discard
// semantics, a cancelled wait's arrival is lost. A wait that was already bound when it was dropped was cancelled by the
// drop itself.
func (t *turn) unsubscribe(pos int) {
	if w := t.waits.cancel(pos, t.discards()); w != nil {
		t.served(w, false)
	}
	if q := t.queues.cancel(pos); q != nil {
		t.queueServed(q, false)
	}
}

// served wakes the tasks whose wait now has an arrival.
func (t *turn) served(w *waits, due bool) {
	w.each(true, func(s *subscription) {
		if t.futures[s.token].state == futurePending {
			t.due = t.due || due
			t.wake(s.token)
		}
	})
}
