package search

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

const ms = time.Millisecond

// The minimum and maximum number of actions in a sequence. An action makes no call, one call, or a few related calls.
const (
	leastActions = 5
	mostActions  = 100
)

// checker makes one sequence of calls and stops when an answer is rejected.
type checker struct {
	in        *undertest.Store
	oracle    *oracle.Oracle
	moves     []move
	deadlines []int64  // instants at which something may change
	tokens    []string // of instances
	items     []string // the instances that the tokens belong to
	work      []string // tokens for worker rows
	events    []call.CorruptEvent
	messages  []call.CorruptMessage
	nextEvent uint64
	names     *names
	has       map[string]bool // methods that have answered
	restarted bool            // the provider has been restarted
	now       int64           // the store's time before the last call or restart
	killing   bool            // the provider is killed during the next call
	failing   int             // during the next call, the storage fails before this step, counted from 1; 0 if it does not fail
	lacks     map[string]bool // methods that the provider reported as unsupported
	refusal   *oracle.Refusal
	strict    *oracle.Oracle        // denies the suspicious freedoms; nil once it has rejected an answer
	exchanges []oracle.Exchange     // all exchanges up to that rejection
	err       error                 // a failure that makes a verdict impossible
	told      func(oracle.Exchange) // for tests of the generator
}

// sequence runs the sequence of a seed on a fresh store.
func sequence(f undertest.Factory, o oracle.Options, seed uint64, lacks map[string]bool, told func(oracle.Exchange)) (*checker, error) {
	in, err := f.Make()
	if err != nil {
		return nil, err
	}
	c := &checker{
		in: in, oracle: oracle.New(o), strict: oracle.New(denying(o, suspicious...)), lacks: lacks, has: map[string]bool{}, tokens: []string{"bogus"}, items: []string{"A"}, work: []string{"bogus"}, nextEvent: 10, names: apart, told: told,
	}
	switch {
	case seed%4 == 0:
		c.names = alike
	case seed%8 == 2:
		c.names = long
	}
	defer func() {
		if c.refusal == nil || c.refusal.Crash == "" { // a provider that has crashed may still hold the locks that it took
			c.in.Release()
		}
	}()
	d := newDraws(seed)
	actions := c.actions()
	if in.Restart != nil && seed%5 == 1 { // a restart may take long
		actions = append(actions, c.restart, c.restart)
	}
	for range d.between(leastActions, mostActions) {
		if c.over() {
			break
		}
		pick(d, actions)(d)
	}
	return c, c.err
}

// over reports whether the sequence has ended: by a verdict, or because the store gave no valid answer, as after a clock's.
func (c *checker) over() bool {
	if c.refusal == nil && c.err == nil && c.in.Broken != nil && c.in.Down() == nil {
		if err := c.in.Broken(); !engine.Mistaken(err) {
			c.err = err
		}
	}
	return c.refusal != nil || c.err != nil
}

// actions returns the actions that a sequence chooses from. An action that is currently impossible does nothing.
func (c *checker) actions() []func(*draws) {
	list := []func(*draws){
		c.enqueue, c.fetch, c.fetch, c.turn, c.turn, c.executions, c.offer, c.edge, c.ack, c.abandon, c.renew, c.enqueueWork, c.fetchWork, c.ackWork, c.abandonWork,
		c.renewWork, c.sessions, c.sessionLife, c.append, c.read,
	}
	if c.in.Provider.Admin() != nil {
		list = append(list, c.admin, c.remove, c.family, c.again)
	}
	if c.in.Advance != nil {
		list = append(list, c.advance, c.advance)
	}
	if c.in.CorruptHistory != nil {
		list = append(list, c.corrupt)
	}
	if c.in.CorruptMessage != nil {
		list = append(list, c.corruptQueued)
	}
	if c.in.FailAckStep != nil {
		list = append(list, c.failingAck)
	}
	return list
}

// do makes a call, unless the sequence is over.
func (c *checker) do(_ *draws, r call.Call) call.Answer {
	if c.over() || c.lacks[call.Method(r)] {
		return call.Answer{Err: engine.ErrUnsupported}
	}
	began := c.in.NowMs()
	if c.over() {
		return call.Answer{Err: engine.ErrUnsupported}
	}
	c.now = began
	step, failing, kill := c.failing, c.failing > 0, c.killing && c.failing == 0 && changes(r)
	c.failing, c.killing = 0, c.killing && !kill
	if failing {
		c.in.FailAckStep(step - 1)
	}
	a, lost, crash := perform(c.in, r, kill, c.has)
	c.restarted = c.restarted || kill
	if errors.Is(a.Err, engine.ErrUnsupported) {
		if !c.restarted { // or it may have had the method before
			c.lacks[call.Method(r)] = true
		}
		if kill {
			c.moves = append(c.moves, move{restart: true})
			c.goesOn()
		}
		return a
	}
	switch r := r.(type) {
	case call.EnqueueForOrchestrator:
		c.messages = append(c.messages, call.CorruptMessage{Item: r.Item})
	case call.EnqueueForWorker:
		c.messages = append(c.messages, call.CorruptMessage(r))
	}
	c.judge(oracle.Exchange{Call: r, Answer: a, Lost: lost, Crash: crash, Failing: failing, At: during(c.in, began, crash)})
	last := &c.moves[len(c.moves)-1]
	last.step, last.kill = step, kill
	c.goesOn()
	return a
}

// changes reports whether a call can change the store.
func changes(r call.Call) bool {
	method := call.Method(r)
	return !slices.ContainsFunc([]string{"get_", "list_", "read", "latest_"}, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
}

// killed kills the provider during the next call that changes the store, which is often an ack, and looks for what half of
// it would have done.
func (c *checker) killed(d *draws) {
	switch d.between(0, 3) {
	case 0, 1:
		if token, in, ok := c.begin(d, c.message(d, c.instance(d))); ok {
			c.killing = true
			c.commit(d, token, in)
			c.look(d, in, 1)
			c.fetch(d)
			return
		}
	case 2:
		in := c.instance(d)
		c.do(d, call.EnqueueForWorker{Item: engine.ActivityExecuteItem{Instance: in, ExecutionID: 1, ID: 6, Name: "Act"}})
		if a := c.do(d, call.FetchWorkItem{LockTimeout: 5000 * ms, Tags: engine.TagFilter{Mode: engine.TagAny}}); a.Work != nil {
			c.killing = true
			c.do(d, call.AckWorkItem{LockToken: a.Work.LockToken, Completion: engine.ActivityCompletedItem{Instance: in, ExecutionID: 1, ID: 6, Result: "done"}})
			if c.in.Provider.Admin() != nil {
				c.do(d, call.GetQueueDepths{})
			}
			c.do(d, call.FetchOrchestrationItem{LockTimeout: 1000 * ms})
			c.do(d, call.FetchWorkItem{LockTimeout: 5000 * ms, Tags: engine.TagFilter{Mode: engine.TagAny}})
			return
		}
	}
	c.killing = true
}

// goesOn ends the sequence with a refusal if the provider does not go on after it was killed.
func (c *checker) goesOn() {
	if c.in.Down() != nil && c.refusal == nil {
		c.judge(oracle.Exchange{Crash: fell(c.in), At: oracle.At(c.now)})
	}
}

func fell(in *undertest.Store) string {
	return fmt.Sprintf("the provider was killed, and does not go on: %v", in.Down())
}

// perform makes a call, during which the provider is killed if kill is set; then the answer may be lost. If the provider
// panics, its process ends by itself, or its answer has the wrong form, crash says so, and there is no answer.
// has holds the methods that have answered.
func perform(in *undertest.Store, r call.Call, kill bool, has map[string]bool) (a call.Answer, lost bool, crash string) {
	defer func() {
		if p := recover(); p != nil {
			crash = fmt.Sprintf("the provider panicked: %v\n%s", p, debug.Stack())
		}
	}()
	if kill {
		a, answered := in.Kill(r)
		in.Reopen()
		return a, !answered, ""
	}
	a = call.Perform(context.Background(), in.Provider, r)
	if crash = crashed(in); crash != "" {
		return call.Answer{}, false, crash
	}
	switch unsupported := errors.Is(a.Err, engine.ErrUnsupported); {
	case unsupported && has[call.Method(r)]:
		return call.Answer{}, false, "the provider does not have this method any more"
	case !unsupported:
		has[call.Method(r)] = true
	}
	return a, false, ""
}

// crashed says how the provider's process has ended, or what is wrong with the form of its answer.
func crashed(in *undertest.Store) string {
	if in.Broken != nil {
		if err := in.Broken(); engine.Mistaken(err) {
			return err.Error()
		}
	}
	return ""
}

// restart kills the provider, and starts it again on what it has stored: at once, or during the next call that changes it.
func (c *checker) restart(d *draws) {
	if c.in.Kill != nil && !d.oneIn(3) {
		c.killed(d)
		return
	}
	if c.over() {
		return
	}
	c.now, c.restarted = c.in.NowMs(), true
	c.in.Reopen()
	c.moves = append(c.moves, move{restart: true})
	c.goesOn()
}

// during returns the span of a call that began at some time. A provider that has crashed is not asked for the time.
func during(in *undertest.Store, began int64, crash string) oracle.Span {
	if crash != "" || in.Down() != nil {
		return oracle.At(began)
	}
	return oracle.Between(began, in.NowMs())
}

// mostAckSteps is how many steps an ack has in the contract. The storage may fail before each of them.
const mostAckSteps = 13

// failingAck makes an ack fail by making the storage fail during it. Half of the acks would otherwise succeed, and what
// they should have left alone is read.
func (c *checker) failingAck(d *draws) {
	token, in, held := "", "", false
	if d.oneIn(2) {
		token, in, held = c.begin(d, c.message(d, c.instance(d)))
	}
	step := 1 + d.between(0, mostAckSteps-1)
	if held && c.names == alike && c.in.Advance != nil && d.oneIn(3) {
		c.tornCancel(d, token, in, max(step, mostAckSteps-d.between(0, 5)))
		return
	}
	if c.failing = step; !held {
		c.ack(d)
		return
	}
	c.commit(d, token, in)
	c.look(d, in, 1)
}

// tornCancel makes an ack fail that cancels the only activity of a session, and looks whether the session is still what
// it was when its lock has run out.
func (c *checker) tornCancel(d *draws, token, in string, step int) {
	session := func(owner string) call.FetchWorkItem {
		return call.FetchWorkItem{LockTimeout: 500 * ms, Tags: engine.TagFilter{Mode: engine.TagAny}, Session: &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: 500 * ms}}
	}
	c.do(d, call.EnqueueForWorker{Item: engine.ActivityExecuteItem{Instance: in, ExecutionID: 1, ID: 5, Name: "Act", SessionID: "s3"}})
	c.do(d, session("w1"))
	c.failing = step
	ack := call.AckOrchestrationItem{LockToken: token, ExecutionID: 1}
	ack.CancelledActivities = []engine.ScheduledActivityIdentifier{{Instance: in, ExecutionID: 1, ActivityID: 5}}
	c.do(d, ack)
	c.wait(501 * ms)
	c.do(d, call.CleanupOrphanedSessions{})
	c.do(d, session("w2"))
}

func (c *checker) judge(e oracle.Exchange) {
	if c.told != nil {
		c.told(e)
	}
	c.moves = append(c.moves, move{args: e.Call, token: oracle.Token(e.Answer), was: e})
	if c.in.Broken != nil && e.Crash == "" && c.in.Down() == nil {
		c.err = c.in.Broken()
		c.moves[len(c.moves)-1].was.Lost = c.err != nil
	}
	if c.err == nil {
		c.refusal = c.oracle.Apply(e)
	}
	if c.strict != nil && c.refusal == nil && c.err == nil {
		c.exchanges = append(c.exchanges, e)
		if c.strict.Apply(e) != nil {
			c.strict = nil
		}
	}
}

// calls returns how many of the moves are calls.
func (c *checker) calls() (n int) {
	for _, m := range c.moves {
		if m.args != nil {
			n++
		}
	}
	return n
}

// transcript returns a note, and the calls of the sequence before the one that was refused.
func (c *checker) transcript(note string) []string {
	list, calls := []string{note}, 0
	for i, m := range c.moves {
		if i == len(c.moves)-1 && c.refusal != nil {
			break
		}
		switch {
		case m.restart:
			list = append(list, restarts)
		case m.args == nil:
			list = append(list, passes(m.wait, m.was.At.Lo))
		default:
			calls++
			list = append(list, told(calls, m.was, m.kill))
		}
	}
	return list
}

// soon records an instant at which something may change, relative to now.
func (c *checker) soon(after time.Duration) {
	if after > 0 && !c.over() {
		c.deadlines = append(c.deadlines, c.in.NowMs()+after.Milliseconds())
	}
}

// advance moves time forward, either by a millisecond or to just before, exactly to, or just after a deadline.
func (c *checker) advance(d *draws) {
	now := c.in.NowMs()
	to := now + 1
	var ahead []int64
	for _, at := range c.deadlines {
		if at >= now {
			ahead = append(ahead, at)
		}
	}
	if len(ahead) > 0 && !d.oneIn(4) {
		to = pick(d, ahead) + pick(d, []int64{0, 1, -1})
	}
	if to > now {
		c.wait(time.Duration(to-now) * ms)
	}
}

func (c *checker) wait(d time.Duration) {
	if c.over() {
		return
	}
	c.in.Advance(d)
	if now := c.in.NowMs(); !c.over() {
		c.moves = append(c.moves, move{wait: d, was: oracle.Exchange{At: oracle.At(now)}})
	}
}

func (c *checker) corrupt(d *draws) {
	if len(c.events) > 0 {
		c.damage(pick(d, c.events))
	}
}

// corruptQueued occasionally damages a queued message.
func (c *checker) corruptQueued(d *draws) {
	if n := len(c.messages); n > 0 && d.oneIn(3) {
		c.damage(c.messages[n-1-d.between(0, min(n-1, 3))])
	}
}

func (c *checker) damage(r call.Call) {
	began := c.in.NowMs()
	if done, crash := damage(c.in, r); done {
		c.judge(oracle.Exchange{Call: r, Crash: crash, At: during(c.in, began, crash)})
	}
}

// damage makes a stored event or message undecodable. It returns false if the target no longer exists, and how the
// provider crashed.
func damage(in *undertest.Store, r call.Call) (done bool, crash string) {
	var err error
	switch r := r.(type) {
	case call.CorruptEvent:
		err = in.CorruptHistory(r.Instance, r.ExecutionID, r.EventID)
	case call.CorruptMessage:
		err = in.CorruptMessage(r.Item)
	}
	crash = crashed(in)
	return err == nil || crash != "", crash
}
