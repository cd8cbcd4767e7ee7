package turn

import (
	"math"

	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// checkSelected checks that the winner of a select has a result, and that no other future should have won. The others
// are dropped.
//
// Events are applied one at a time, and code that waits runs as soon as one of them gives it a result
// (docs/contract/runtime.md#r7.4). So if futures have results when the code asks, the first of them in the list wins.
// If none has, the one that gets its result first wins, wherever it is in the list.
func (c *codeCheck) checkSelected(a *asked.Call) {
	if a.N < 0 || a.N >= len(a.Tokens) {
		c.say("a select of %d futures has the winner %d", len(a.Tokens), a.N)
		return
	}
	winner, known := c.ready(a.Tokens[a.N])
	if known && winner == never {
		c.say("event %d wins a select, but has no result so far: expected a future with a result to win", c.event(c.token(a.Tokens[a.N]).event).EventID)
		return
	}
	for i, t := range a.Tokens {
		if pos, sure := c.ready(t); known && sure && precedes(i, pos, a.N, winner, int(c.token(a.By).at)) {
			c.say("future %d of %d wins a select, although future %d comes first: expected the first in the list that is ready when the code asks, or the first that gets ready then",
				a.N+1, len(a.Tokens), i+1)
			return
		}
	}
	c.reach(a.Tokens[a.N])
	for _, t := range a.Tokens {
		if t != a.Tokens[a.N] {
			c.drop(t)
		}
	}
}

// precedes reports whether the i-th future of a select, ready at pos, should win rather than the n-th, ready at winner.
// asked is the position that the turn had reached when the code asked, or unknown.
func precedes(i, pos, n, winner, asked int) bool {
	switch {
	case i < n && pos < winner:
		return true // whenever the code asked
	case asked == unknown:
		return false
	case winner <= asked:
		return i < n && pos <= asked
	}
	return pos < winner
}

// reach notes that the code has got the result of a future. If it had to wait for that, the turn has reached the event
// that gave the result; all coroutines go on from there.
func (c *codeCheck) reach(t orchhost.Token) {
	f := c.token(t)
	if f.spawned || f.answered {
		return // the coroutine got here by another result
	}
	pos, known := c.ready(t)
	f.got = unknown
	if known && pos != never {
		f.got = int32(pos)
	}
	switch {
	case !known:
		c.reached, c.later = unknown, len(c.tokens)
	case c.reached == unknown && int(t) < c.later:
		// The future was there before, so the code need not have waited for it.
	case pos != never:
		c.reached = max(c.reached, pos)
	}
}

// never is the position of an event that has not come, and unknown a position that the events do not determine.
const (
	never   = math.MaxInt
	unknown = -1
)

// ready returns the position of the event that gives a future its result, or never. known is false if the events do not
// say which one that is.
func (c *codeCheck) ready(t orchhost.Token) (pos int, known bool) {
	f := c.token(t)
	switch {
	case f.answered:
		return 0, true
	case f.got != 0:
		return int(f.got), f.got != unknown
	case f.spawned || f.event < 0:
		return 0, false
	}
	e := c.event(f.event)
	switch d := e.Data.(type) {
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2:
		return c.arrival(f.event)
	case eventdata.QueueSubscribed:
		pos, known = c.message(d.Name, f.event)
		return max(pos, f.event), known
	}
	if done := c.fact(e.EventID).done; done != 0 {
		return done, true
	}
	return never, true
}
