package turn

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/eventdata"
)

// mostPolls is how often a turn may run code that asks for more, and tooOften what it says then
// (docs/contract/runtime.md#r4.1).
const (
	mostPolls = 100
	tooOften  = "quiescence loop exceeded 100 iterations —                      orchestration is emitting unbounded persistent event subscriptions"
)

// answersAtOnce reports whether the code schedules a wait or a dequeue in this turn and, without doing anything else,
// gets its result: the turn has run the code once more.
func (c *codeCheck) answersAtOnce(asks, gets *asked.Call) bool {
	if asks.Kind != asked.Scheduled || gets.Kind != asked.Awaited || gets.Token != asks.Token {
		return false
	}
	pos := c.token(gets.Token).event
	return pos >= len(c.t.History) && isWait(c.event(pos).Data)
}

func isWait(d engine.EventData) bool {
	_, external := waitOf(d)
	_, queue := d.(eventdata.QueueSubscribed)
	return external || queue
}

// checkPolls checks that a turn fails if and only if its code asks for too many waits that have a result, one after the
// other.
func (c *codeCheck) checkPolls() {
	i := c.died.Infrastructure
	died := i != nil && i.Operation == "quiescence_loop"
	switch {
	case died && (i.Message != tooOften || i.Retryable):
		c.say("the turn ends with %s: expected the text %q", c.ending(), tooOften)
	case died:
		asks := 0 // the code may have run once for each
		for pos := len(c.t.History); pos < c.count(); pos++ {
			if d := c.event(pos).Data; isWait(d) || reasonOf(d) == eventdata.ReasonDroppedFuture {
				asks++
			}
		}
		if asks < mostPolls {
			c.say("the turn ends with %s, after %d waits: expected at least %d", c.ending(), asks, mostPolls)
		}
	case !c.spawned && c.quick >= mostPolls && c.died.IsZero():
		c.say("the code gets the results of %d waits, one after the other, and the turn ends with %s: expected it to fail, since %d are too many", c.quick, c.ending(), mostPolls)
	}
}

// checkReplaying checks what the code is told about the events that it has not reached: it is replaying while it has yet
// to ask for a schedule of the history, and not once it has asked for something new.
func (c *codeCheck) checkReplaying(got bool) {
	next := len(c.t.History)
	if c.at < len(c.codes) {
		next = c.codes[c.at]
	}
	behind := next < len(c.t.History) && c.isSchedule(next)
	ahead := len(c.t.History) == 0 || c.at > 0 && c.codes[c.at-1] >= len(c.t.History)
	if behind && !got || ahead && got {
		c.say("the code is told that it is replaying: %t, after %d of its events, of which the history has more: %t", got, c.at, behind)
	}
}

// isSchedule reports whether an event is one that a replay cannot leave out.
func (c *codeCheck) isSchedule(pos int) bool {
	return !changesState(c.event(pos).Data)
}
