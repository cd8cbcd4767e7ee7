package asked

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
)

// Kind is the kind of event that a Call records.
type Kind uint8

// The kinds of calls, and the Call fields that each of them sets.
const (
	Began         Kind = iota + 1 // the code began; Text is its input
	Scheduled                     // Action, Token
	Updated                       // Action
	Pruned                        // Ms; N is the number of keys cleared
	Spawned                       // Token
	Awaited                       // Token; Text is the result or, if Failed is set, the error
	Selected                      // Tokens; N is the index of the winner
	Dropped                       // Token
	Continued                     // Action
	ReadInfo                      // Info
	ReadStatus                    // Status
	ReadKeys                      // Keys
	Returned                      // the handler or Token's coroutine ended; Text is the result or, if Failed is set, the error
	Panicked                      // the handler or Token's coroutine did not return
	Traced                        // Text
	ReadReplaying                 // N is 1 if the code is replaying; omitted if the last call was the same question with the same answer
)

// Call records one call of a Context, or that code began or ended. Calls are recorded in the order in which they
// return. Anything a Call points to is read-only.
type Call struct {
	Kind Kind
	// By is the token of the calling coroutine, or 0 for the handler.
	By, Token orchhost.Token
	Failed    bool
	N         int
	Text      string
	Action    *orchhost.Action
	*Details
}

// Details holds the fields that most kinds of calls leave unset. They are separate so that a Call stays small.
type Details struct {
	Tokens []orchhost.Token
	Ms     uint64
	Info   orchhost.Info
	Status *string
	Keys   []engine.KVEntry
}

// Recorder records the calls made during a turn, one turn at a time. The zero value is ready to use. It is not safe for
// concurrent use.
type Recorder struct {
	host    orchhost.Host
	handler orch.Handler
	run     orch.Handler // the method value r.code, created once
	by      orchhost.Token
	over    bool
	calls   []Call
	actions []orchhost.Action
	details []Details
	none    Call // receives calls made after the end; they are discarded
	tokens  []orchhost.Token
	keys    []engine.KVEntry
	made    []*coroutine // coroutines of this turn, followed by unused ones
	spawned int
}

// Run returns a handler that behaves like handler but records its calls. Recording continues until the next call to
// Run.
func (r *Recorder) Run(handler orch.Handler) orch.Handler {
	r.handler, r.calls = handler, r.calls[:0]
	if r.run == nil {
		r.run = r.code
	}
	return r.run
}

// Calls returns the calls recorded since Run, or none if no code ran. The slice is valid until the next call to Run.
func (r *Recorder) Calls() []Call { return r.calls }

// Watch starts a new recording and returns a host that forwards calls to host and records them. It must be called
// before the code starts.
func (r *Recorder) Watch(host orchhost.Host) orchhost.Host {
	clear(r.calls)
	clear(r.actions)
	clear(r.details)
	r.host, r.by, r.over, r.spawned = host, 0, false, 0
	r.calls, r.actions, r.details = r.calls[:0], r.actions[:0], r.details[:0]
	r.tokens, r.keys = r.tokens[:0], r.keys[:0]
	return r
}

// Over ends the recording. Calls made by the code during teardown are not recorded.
func (r *Recorder) Over() { r.over = true }

// add appends a new Call and returns it, so that the caller can fill it in.
func (r *Recorder) add(k Kind) *Call {
	if r.over {
		return &r.none
	}
	r.calls = append(r.calls, Call{Kind: k, By: r.by})
	return &r.calls[len(r.calls)-1]
}

func (r *Recorder) addAction(k Kind, a orchhost.Action) *Call {
	c := r.add(k)
	r.actions = append(r.actions, a)
	c.Action = &r.actions[len(r.actions)-1]
	return c
}

func (r *Recorder) addDetails(k Kind, s Details) *Call {
	c := r.add(k)
	r.details = append(r.details, s)
	c.Details = &r.details[len(r.details)-1]
	return c
}

func (r *Recorder) code(ctx *orch.Context, input string) (text string, err error) {
	r.add(Began).Text = input
	end := Panicked
	defer func() { r.ended(end, 0, text, err) }()
	text, err = r.handler(ctx, input)
	end = Returned
	return text, err
}

// ended records that the handler or a coroutine has ended.
func (r *Recorder) ended(how Kind, token orchhost.Token, text string, err error) {
	c := r.add(how)
	c.By, c.Token = token, token
	c.tell(text, err)
}

// coroutine is a coroutine started by the code.
type coroutine struct {
	r     *Recorder
	token orchhost.Token // set when the coroutine starts
	fn    func() (string, error)
	run   func() (string, error) // the method value c.code, created once
}

func (c *coroutine) code() (text string, err error) {
	c.r.by = c.token
	end := Panicked
	defer func() { c.r.ended(end, c.token, text, err) }()
	text, err = c.fn()
	end = Returned
	return text, err
}

func (c *Call) tell(text string, err error) {
	if c.Text = text; err != nil {
		c.Text, c.Failed = err.Error(), true
	}
}

// Info implements orchhost.Host, as do the methods below.
func (r *Recorder) Info() orchhost.Info {
	info := r.host.Info()
	r.addDetails(ReadInfo, Details{Info: info})
	return info
}

func (r *Recorder) Replaying() bool {
	replaying := r.host.Replaying()
	answer := 0
	if replaying {
		answer = 1
	}
	if n := len(r.calls); n == 0 || r.calls[n-1].Kind != ReadReplaying || r.calls[n-1].N != answer {
		r.add(ReadReplaying).N = answer
	}
	return replaying
}

func (r *Recorder) Trace(text string) {
	r.host.Trace(text)
	r.add(Traced).Text = text
}

func (r *Recorder) Schedule(a orchhost.Action) orchhost.Token {
	token := r.host.Schedule(a)
	r.addAction(Scheduled, a).Token = token
	return token
}

func (r *Recorder) ScheduleActivity(name, input, session, tag string) orchhost.Token {
	token := r.host.ScheduleActivity(name, input, session, tag)
	r.addAction(Scheduled, orchhost.Action{Kind: orchhost.ActionActivity, Name: name, Input: input, Session: session, Tag: tag}).Token = token
	return token
}

func (r *Recorder) Spawn(fn func() (string, error)) orchhost.Token {
	if r.spawned == len(r.made) {
		c := &coroutine{r: r}
		c.run = c.code
		r.made = append(r.made, c)
	}
	c := r.made[r.spawned]
	r.spawned++
	c.fn = fn
	c.token = r.host.Spawn(c.run)
	r.add(Spawned).Token = c.token
	return c.token
}

func (r *Recorder) Await(t orchhost.Token) (string, error) {
	me := r.by
	text, err := r.host.Await(t)
	r.by = me
	c := r.add(Awaited)
	c.Token = t
	c.tell(text, err)
	return text, err
}

func (r *Recorder) Select(ts []orchhost.Token) int {
	me := r.by
	winner := r.host.Select(ts)
	r.by = me
	n := len(r.tokens)
	r.tokens = append(r.tokens, ts...)
	r.addDetails(Selected, Details{Tokens: r.tokens[n:len(r.tokens):len(r.tokens)]}).N = winner
	return winner
}

func (r *Recorder) Drop(t orchhost.Token) {
	r.host.Drop(t)
	r.add(Dropped).Token = t
}

func (r *Recorder) ContinueAsNew(version, input string) {
	r.addAction(Continued, orchhost.Action{Kind: orchhost.ActionContinueAsNew, Version: version, Input: input})
	r.host.ContinueAsNew(version, input)
}

func (r *Recorder) Update(a orchhost.Action) {
	r.host.Update(a)
	r.addAction(Updated, a)
}

func (r *Recorder) CustomStatus() *string {
	status := r.host.CustomStatus()
	r.addDetails(ReadStatus, Details{Status: status})
	return status
}

func (r *Recorder) KV() []engine.KVEntry {
	keys := r.host.KV()
	n := len(r.keys)
	r.keys = append(r.keys, keys...)
	r.addDetails(ReadKeys, Details{Keys: r.keys[n:len(r.keys):len(r.keys)]})
	return keys
}

func (r *Recorder) PruneKV(beforeMs uint64) int {
	n := r.host.PruneKV(beforeMs)
	r.addDetails(Pruned, Details{Ms: beforeMs}).N = n
	return n
}
