package coded

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/asked"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/orchhost"
	"github.com/durosim/durosim/properties/oracle/turn"
)

// apply updates the state as the code sees it after an event.
func (c *Checker) apply(e *engine.Event) {
	byKey := func(k engine.KVEntry, key string) int { return strings.Compare(k.Key, key) }
	switch d := e.Data.(type) {
	case eventdata.CustomStatusUpdated:
		c.status = d.Status
	case eventdata.KeyValueSet:
		if i, ok := slices.BinarySearchFunc(c.keys, d.Key, byKey); ok {
			c.keys[i] = engine.KVEntry(d)
		} else {
			c.keys = slices.Insert(c.keys, i, engine.KVEntry(d))
		}
	case eventdata.KeyValueCleared:
		if i, ok := slices.BinarySearchFunc(c.keys, d.Key, byKey); ok {
			c.keys = slices.Delete(c.keys, i, i+1)
		}
	case eventdata.KeyValuesCleared:
		c.keys = c.keys[:0]
	}
}

// checkPruned checks that a prune clears the keys that were last set before the given time, in key order.
func (c *Checker) checkPruned(a *asked.Call) {
	if c.unrecorded {
		return
	}
	var old []string
	for _, k := range c.keys {
		if k.LastUpdatedAtMs < a.Ms {
			old = append(old, k.Key)
		}
	}
	if a.N != len(old) {
		c.say("the code gets %d as the number of pruned keys: expected %d, %q", a.N, len(old), old)
		return
	}
	for _, key := range old {
		c.claim(&orchhost.Action{Kind: orchhost.ActionClearKV, Name: key})
	}
}

// checkKeys checks the keys that the code reads.
func (c *Checker) checkKeys(got []engine.KVEntry) {
	if !c.unrecorded && !slices.EqualFunc(got, c.keys, func(a, b engine.KVEntry) bool { return a.Key == b.Key && a.Value == b.Value }) {
		c.say("the code reads the keys %+v: expected %+v", got, c.keys)
	}
}

// checkAwaited checks that the code gets the result that the events record for a future.
func (c *Checker) checkAwaited(a *asked.Call) {
	f := c.token(a.Token)
	switch {
	case f.spawned:
		if f.ended == nil {
			c.say("the code gets the result of a coroutine that has not ended: %s", shown(a.Text))
		} else if f.ended.Text != a.Text || f.ended.Failed != a.Failed {
			c.say("the code gets the result %s from a coroutine: expected %s", shown(a.Text), shown(f.ended.Text))
		}
		return
	case f.answered || f.event < 0:
		return
	}
	e := c.event(f.event)
	switch d := e.Data.(type) {
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2:
		if want, ok := c.arrived(f.event, a.Text); !ok || a.Failed {
			c.say("the code gets %s from the wait %d: expected %s", shown(a.Text), e.EventID, shown(want))
		}
		return
	case eventdata.QueueSubscribed:
		if f.awaited {
			return // the same message as before
		}
		if want, ok := c.dequeued(d.Name, f.event, a.Text); !ok || a.Failed {
			c.say("the code gets %s from the dequeue %d: expected %s", shown(a.Text), e.EventID, want)
		}
		return
	}
	done := c.fact(e.EventID).done
	if done == 0 {
		c.say("the code gets a result from event %d, which has none: %s", e.EventID, shown(a.Text))
		return
	}
	want, failed := "", false
	switch d := c.event(done).Data.(type) {
	case eventdata.ActivityCompleted:
		want = d.Result
	case eventdata.ActivityFailed:
		want, failed = turn.Text(d.Details), true
	case eventdata.SubOrchestrationCompleted:
		want = d.Result
	case eventdata.SubOrchestrationFailed:
		want, failed = turn.Text(d.Details), true
	}
	if a.Text != want || a.Failed != failed {
		c.say("the code gets %s (an error: %t) from event %d: expected %s (%t)", shown(a.Text), a.Failed, e.EventID, shown(want), failed)
	}
}

// waitKey holds the fields that must match for an event to satisfy a wait.
type waitKey struct {
	second      bool
	name, topic string
}

// waitOf returns the key of a wait, and arrivalOf the key of an event that satisfies waits.
func waitOf(d engine.EventData) (k waitKey, ok bool) {
	switch d := d.(type) {
	case eventdata.ExternalSubscribed:
		return waitKey{name: d.Name}, true
	case eventdata.ExternalSubscribed2:
		return waitKey{true, d.Name, d.Topic}, true
	}
	return waitKey{}, false
}

func arrivalOf(d engine.EventData) (k waitKey, data string, ok bool) {
	switch d := d.(type) {
	case eventdata.ExternalEvent:
		return waitKey{name: d.Name}, d.Data, true
	case eventdata.ExternalEvent2:
		return waitKey{true, d.Name, d.Topic}, d.Data, true
	}
	return waitKey{}, "", false
}

// arrived returns the data that a wait gets. The n-th wait for a key gets the data of the n-th event that found a wait
// (docs/contract/runtime.md#r7.7). If a wait for the key was dropped, any of the events may be the right one, because
// the history does not record when it was dropped.
func (c *Checker) arrived(wait int, got string) (want string, ok bool) {
	own, _ := waitOf(c.event(wait).Data)
	waits, served, mine, dropped, any, found := 0, 0, 0, false, false, false
	for pos := range c.events() {
		e := c.event(pos)
		if k, is := waitOf(e.Data); is && k == own {
			if pos == wait {
				mine = waits
			}
			waits++
			dropped = dropped || c.fact(e.EventID).crumb != 0
		}
		if k, data, is := arrivalOf(e.Data); is && k == own {
			any = any || data == got
			if served < waits {
				if pos > wait && served == mine {
					want, found = data, true
				}
				served++
			}
		}
	}
	if dropped {
		return "the data of an event that came", any
	}
	return want, found && want == got
}

// dequeued returns the message that a dequeue gets and marks it as taken. Of the messages that no dequeue has taken,
// the dequeue gets the one whose index equals the number of open dequeues before it. If a dequeue with the same name
// was dropped, it may get any message, because the history does not record when it was dropped.
func (c *Checker) dequeued(name string, dequeue int, got string) (want string, ok bool) {
	before, dropped := 0, false
	for pos := range c.events() {
		e := c.event(pos)
		if d, is := e.Data.(eventdata.QueueSubscribed); is && d.Name == name {
			if pos < dequeue && !slices.Contains(c.taken, pos) {
				before++
			}
			f := c.fact(e.EventID)
			dropped = dropped || f.crumb != 0 || c.token(f.token).dropped
		}
	}
	c.taken = append(c.taken, dequeue)
	want = "a message of the queue"
	for pos := range c.events() {
		d, is := c.event(pos).Data.(eventdata.QueueEventDelivered)
		if !is || d.Name != name || slices.Contains(c.taken, pos) {
			continue
		}
		if !dropped && before > 0 {
			before--
			continue
		}
		if d.Data == got {
			c.taken = append(c.taken, pos)
			return d.Data, true
		}
		if !dropped {
			return shown(d.Data), false
		}
	}
	return want, false
}

// checkSelected checks that the winner has a result, and that it comes first in the list among the futures that had one
// by then. The other futures are dropped.
func (c *Checker) checkSelected(a *asked.Call) {
	if a.N < 0 || a.N >= len(a.Tokens) {
		c.say("a select of %d futures has the winner %d", len(a.Tokens), a.N)
		return
	}
	winner, timed := c.done(a.Tokens[a.N])
	if timed && winner == 0 {
		c.say("event %d wins a select, but has no result so far: expected a future with a result to win", c.event(c.token(a.Tokens[a.N]).event).EventID)
		return
	}
	for i, t := range a.Tokens {
		if i < a.N && timed {
			if done, known := c.done(t); known && done != 0 && done < winner {
				c.say("future %d of %d wins a select, although it got its result after future %d: expected the first that is ready", a.N+1, len(a.Tokens), i+1)
				return
			}
		}
		if t != a.Tokens[a.N] {
			c.drop(t)
		}
	}
}

// done returns the position of a future's completion, or 0 if it has none. known is false unless the future is an
// activity, a timer or a child.
func (c *Checker) done(t orchhost.Token) (pos int, known bool) {
	f := c.token(t)
	if f.spawned || f.answered || f.event < 0 {
		return 0, false
	}
	e := c.event(f.event)
	switch e.Data.(type) {
	case eventdata.ActivityScheduled, eventdata.TimerCreated, eventdata.SubOrchestrationScheduled:
		return c.fact(e.EventID).done, true
	}
	return 0, false
}

// drop marks a future as dropped, along with the requests of its coroutine. It does nothing if the code already has the
// future's result.
func (c *Checker) drop(t orchhost.Token) {
	f := c.token(t)
	if f.awaited || f.dropped || f.ended != nil {
		return
	}
	f.dropped = true
	if !f.spawned {
		return
	}
	for i := 1; i < len(c.tokens); i++ {
		if c.tokens[i].by == t {
			c.drop(orchhost.Token(i))
		}
	}
}
