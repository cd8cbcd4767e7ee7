package oracle

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Check makes random sequences of calls on fresh stores, over the whole surface of both interfaces and over time, and
// compares every answer with the specification. A sequence that is refused is shrunk and shown: its calls, the refused
// answer, why, and what would have been allowed.
//
// The flags of pgregory.net/rapid say how much: -rapid.checks for sequences, -rapid.steps for their average length,
// -rapid.seed for a fixed start. What the factory cannot do is left out, and logged.
func Check(t *testing.T, f Factory) {
	t.Helper()
	CheckWith(t, f, Options{})
}

// CheckWith is Check for a provider that promises more than the contract, or meets storage errors. A single caller meets
// no contention, so F5 is always denied.
func CheckWith(t *testing.T, f Factory, o Options) {
	t.Helper()
	probe, wrong := f.probe(t)
	if wrong != "" {
		t.Fatalf("the factory is of no use: %s", wrong)
	}
	for _, left := range probe.leftOut() {
		t.Logf("left out: %s", left)
	}
	probe.close()
	var last *checker // that met a refusal: the one that rapid shrank to
	defer func() {
		if last != nil {
			t.Log(last.story())
		}
	}()
	rapid.Check(t, func(rt *rapid.T) {
		c := newChecker(t, f, o)
		defer c.in.close()
		defer func() {
			if c.refusal != nil {
				last = c
			}
		}()
		rt.Repeat(c.actions(rt))
	})
}

// story is the shortest sequence that is refused, as text.
func (c *checker) story() string {
	refusal, transcript, _ := replay(c.t, c.factory, c.options, least(c.t, c.factory, c.options, c.moves))
	if refusal == nil {
		return "the same calls on another store were allowed: the provider is not deterministic, or stores share something\n" + c.refusal.Error()
	}
	return "the shortest sequence that is refused:\n" + strings.Join(append(transcript, refusal.Error()), "\n")
}

// leftOut names what a store cannot do, and so is not checked.
func (in *Instance) leftOut() []string {
	var list []string
	if in.Advance == nil {
		list = append(list, "the passing of time: the factory offers no Advance")
	}
	if in.CorruptHistory == nil {
		list = append(list, "undecodable histories: the factory offers no CorruptHistory")
	}
	if in.CorruptMessage == nil {
		list = append(list, "undecodable messages: the factory offers no CorruptMessage")
	}
	if in.Provider.Admin() == nil {
		list = append(list, "the management surface: the provider has none")
	}
	return list
}

// probe makes a store, and says what it lacks that every sequence needs; then there is none.
func (f Factory) probe(t testing.TB) (in *Instance, wrong string) {
	if f.New == nil {
		return nil, "Factory.New is not set"
	}
	in = f.New(t)
	switch {
	case in == nil:
		return nil, "Factory.New gave no instance"
	case in.Provider == nil:
		wrong = "Instance.Provider is not set"
	case in.NowMs == nil:
		wrong = "Instance.NowMs is not set; it must tell the very clock that the store's locks go by, to the millisecond"
	default:
		return in, ""
	}
	in.close()
	return nil, wrong
}

func (in *Instance) close() {
	if in.Close != nil {
		in.Close()
	}
}

// checker makes one sequence of calls.
type checker struct {
	t         testing.TB
	factory   Factory
	options   Options
	in        *Instance
	oracle    *Oracle
	moves     []move
	deadlines []int64  // instants at which something may change
	tokens    []string // of instances
	items     []string // the instance of each of tokens
	work      []string // tokens of worker rows
	events    []CorruptEvent
	messages  []CorruptMessage
	nextEvent uint64
	refusal   *Refusal
	watch     func(Call, Answer) // for tests of the generator
	stops     bool               // a refusal ends the sequence, and fails no test
}

func newChecker(t testing.TB, f Factory, o Options) *checker {
	o.Deny = append(o.Deny[:len(o.Deny):len(o.Deny)], F5Contention)
	return &checker{
		t: t, factory: f, options: o, in: f.New(t), oracle: New(o),
		tokens: []string{"bogus"}, items: []string{"A"}, work: []string{"bogus"}, nextEvent: 10,
	}
}

// do makes a call and fails the test if the answer is not allowed.
func (c *checker) do(t *rapid.T, args Args) Answer {
	begin := c.in.NowMs()
	call := Call{Args: args}
	a := Perform(context.Background(), c.in.Provider, call)
	c.queued(args)
	c.judge(t, call, a, Between(begin, c.in.NowMs()))
	return a
}

func (c *checker) judge(t *rapid.T, call Call, a Answer, at Span) {
	if c.watch != nil {
		c.watch(call, a)
	}
	c.moves = append(c.moves, move{args: call.Args, token: a.token()})
	if c.in.Broken != nil && c.in.Broken() != nil {
		if c.stops {
			panic(stopped{})
		}
		t.Fatalf("no verdict: %v", c.in.Broken())
	}
	if c.refusal = c.oracle.Apply(call, a, at); c.refusal == nil {
		return
	}
	if c.stops {
		panic(stopped{})
	}
	t.Fatalf("the provider gave an answer that docs/contract/provider.md does not allow, in %s", c.refusal.Error())
}

// queued notes what a call puts into a queue.
func (c *checker) queued(args Args) {
	switch r := args.(type) {
	case EnqueueForOrchestrator:
		c.messages = append(c.messages, CorruptMessage{r.Item})
	case EnqueueForWorker:
		c.messages = append(c.messages, CorruptMessage(r))
	}
}

// soon notes an instant at which something may change.
func (c *checker) soon(afterMs int64) {
	if afterMs > 0 {
		c.deadlines = append(c.deadlines, c.in.NowMs()+afterMs)
	}
}

// advance lets time pass: a millisecond, or to just before, at or just after a deadline.
func (c *checker) advance(t *rapid.T) {
	now := c.in.NowMs()
	to := now + 1
	var ahead []int64
	for _, d := range c.deadlines {
		if d >= now {
			ahead = append(ahead, d)
		}
	}
	if len(ahead) > 0 && rapid.IntRange(0, 3).Draw(t, "class") > 0 {
		to = rapid.SampledFrom(ahead).Draw(t, "deadline") + rapid.SampledFrom([]int64{0, 1, -1}).Draw(t, "offset")
	}
	if to <= now {
		t.Skip("no time passes")
	}
	c.wait(to - now)
}

func (c *checker) wait(ms int64) {
	wait := time.Duration(ms) * time.Millisecond
	c.in.Advance(wait)
	c.moves = append(c.moves, move{wait: wait})
}

// damage makes a stored event or message undecodable; false if it cannot, because it is gone.
func (in *Instance) damage(args Args) (ok bool) {
	switch d := args.(type) {
	case CorruptEvent:
		return in.CorruptHistory(d.Instance, d.ExecutionID, d.EventID) == nil
	case CorruptMessage:
		return in.CorruptMessage(d.Item.WorkItem) == nil
	}
	return false
}

// corrupt damages a stored event.
func (c *checker) corrupt(t *rapid.T) {
	if len(c.events) == 0 {
		t.Skip("nothing is stored")
	}
	c.corruptOne(t, rapid.SampledFrom(c.events).Draw(t, "event"))
}

// corruptQueued damages a message.
func (c *checker) corruptQueued(t *rapid.T) {
	if len(c.messages) == 0 || !oneIn(t, "really", 3) {
		t.Skip("nothing was queued, or seldom")
	}
	c.corruptOne(t, c.messages[len(c.messages)-1-rapid.IntRange(0, min(len(c.messages)-1, 3)).Draw(t, "message")])
}

func (c *checker) corruptOne(t *rapid.T, args Args) {
	if !c.in.damage(args) {
		t.Skip("it is gone")
	}
	c.judge(t, Call{Args: args}, Answer{}, At(c.in.NowMs()))
}

// actions are the moves of the state machine.
func (c *checker) actions(*rapid.T) map[string]func(*rapid.T) {
	moves := map[string]func(*rapid.T){
		"enqueue": c.enqueue, "fetch": c.fetch, "fetch again": c.fetch, "turn": c.turn, "turn again": c.turn, "offer": c.offer, "ack": c.ack, "abandon": c.abandon, "renew": c.renew,
		"enqueue work": c.enqueueWork, "fetch work": c.fetchWork, "ack work": c.ackWork, "abandon work": c.abandonWork, "renew work": c.renewWork,
		"sessions": c.sessions, "session life": c.sessionLife, "append": c.append, "read": c.read,
	}
	if c.in.Provider.Admin() != nil {
		moves["admin"], moves["remove"] = c.admin, c.remove
	}
	if c.in.Advance != nil {
		moves["time"], moves["more time"] = c.advance, c.advance
	}
	if c.in.CorruptHistory != nil {
		moves["corrupt"] = c.corrupt
	}
	if c.in.CorruptMessage != nil {
		moves["corrupt queued"] = c.corruptQueued
	}
	return moves
}
