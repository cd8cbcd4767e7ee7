package orch

import "github.com/durosim/durosim/engine/orchhost"

// Future is the result of a scheduled operation.
type Future struct {
	ctx   *Context
	token orchhost.Token
}

// Futures is memory for the futures of successive Contexts. It allocates futuresAtOnce of them at a time and uses none
// twice, because code may keep one. The zero value is ready to use. Only the engine uses it.
type Futures struct {
	free []Future
	few  int // activities that the current Context may still schedule before it uses free
	// many is set once the current Context has used free.
	many bool
}

// futuresAtOnce is small, because a future that code has kept keeps the whole block alive.
const futuresAtOnce = 32

// NewContext is like the function of that name. The context's futures are allocated from f.
func (f *Futures) NewContext(h orchhost.Host) *Context {
	f.few = fewActivities
	if f.many { // code that fans out does so again in its next turn
		f.few, f.many = 0, false
	}
	return &Context{host: h, futures: f}
}

// fewActivities is the number of activities in a turn whose futures are not allocated from a Futures. Code that schedules
// no more of them usually awaits each immediately, so that the compiler keeps its future on the stack.
const fewActivities = 4

// future returns the future with that token if the code schedules many activities, and nil otherwise. Token 0 means that
// the host has refused a call from another goroutine, which must not touch the shared memory.
func (c *Context) future(token orchhost.Token) *Future {
	if c.futures == nil || token == 0 {
		return nil
	}
	room := c.futures
	if room.few > 0 {
		room.few--
		return nil
	}
	room.many = true
	free := room.free
	if len(free) == 0 {
		free = make([]Future, futuresAtOnce)
	}
	room.free = free[1:]
	free[0] = Future{ctx: c, token: token}
	return &free[0]
}

// Await suspends the code until the result is known. Awaiting a future again returns the same result. If an activity or
// child failed, the error has the failure's display text. Await panics if the future was dropped before it had a
// result.
func (f *Future) Await() (string, error) {
	value, err := f.ctx.host.Await(f.token)
	if err == orchhost.Over {
		panic(err)
	}
	return value, err
}

// Drop abandons the future. It has no effect if the future already has a result or was already dropped.
func (f *Future) Drop() { f.ctx.host.Drop(f.token) }

// Outcome is the result of an awaited future.
type Outcome struct {
	Value string
	Err   error
}

// Select suspends the code until one of the futures has a result, and returns that future's index and result. If
// several are ready, the first argument wins. The others are dropped. Select needs at least one future.
func Select(futures ...*Future) (index int, value string, err error) {
	if len(futures) == 0 {
		panic("orch: Select of no futures")
	}
	tokens := make([]orchhost.Token, len(futures))
	for i, f := range futures {
		tokens[i] = f.token
	}
	if index = futures[0].ctx.host.Select(tokens); index < 0 {
		panic(orchhost.Over)
	}
	value, err = futures[index].Await()
	return index, value, err
}

// Join suspends the code until all futures have results and returns the results in argument order.
func Join(futures ...*Future) []Outcome {
	out := make([]Outcome, len(futures))
	for i, f := range futures {
		out[i].Value, out[i].Err = f.Await()
	}
	return out
}
