package turn

import (
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// checkPruned checks that a prune clears the keys that were last set before the given time, in key order.
func (c *codeCheck) checkPruned(a *asked.Call) {
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
func (c *codeCheck) checkKeys(got []engine.KVEntry) {
	if !c.unrecorded && !slices.EqualFunc(got, c.keys, func(a, b engine.KVEntry) bool { return a.Key == b.Key && a.Value == b.Value }) {
		c.say("the code reads the keys %+v: expected %+v", got, c.keys)
	}
}

// checkAwaited checks that the code gets the result that the events record for a future.
func (c *codeCheck) checkAwaited(a *asked.Call) {
	f := c.token(a.Token)
	switch {
	case f.spawned:
		if f.ended == nil {
			c.say("the code gets the result of a coroutine that has not ended: %s", shown(a.Text))
		} else if f.ended.Text != a.Text || f.ended.Failed != a.Failed {
			c.say("the code gets the result %s from a coroutine: expected %s", shown(a.Text), shown(f.ended.Text))
		}
		return
	case f.answered:
		if !a.Failed || !strings.Contains(a.Text, strconv.Quote(f.refused)) {
			c.say("the code gets %s from a child that it may not name %q: expected an error that says so", shown(a.Text), f.refused)
		}
		return
	case f.event < 0:
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
		want, failed = Text(d.Details), true
	case eventdata.SubOrchestrationCompleted:
		want = d.Result
	case eventdata.SubOrchestrationFailed:
		want, failed = Text(d.Details), true
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

// arrived returns the data that a wait gets. If the code has dropped a wait for the key, it is the data from before the
// breadcrumb of that drop or from after it, because the events do not say when the code looked. Under SemanticsDiscard,
// where the drop itself cancels, any of the events may be the right one.
func (c *codeCheck) arrived(wait int, got string) (want string, ok bool) {
	if pos, known := c.arrival(wait); known {
		if pos != never {
			_, want, ok = arrivalOf(c.event(pos).Data)
		}
		return want, ok && want == got
	}
	own, _ := waitOf(c.event(wait).Data)
	any := false
	var live []uint64
	var came []string
	for pos := range c.count() {
		e := c.event(pos)
		if k, is := waitOf(e.Data); is && k == own {
			live = append(live, e.EventID)
		} else if k, data, is := arrivalOf(e.Data); is && k == own {
			any = any || data == got
			if len(came) < len(live) {
				came = append(came, data)
			}
		} else if _, is := e.Data.(eventdata.ExternalSubscribedCancelled); is {
			live = slices.DeleteFunc(live, func(id uint64) bool { return id == e.SourceEventID })
		}
		if n := slices.Index(live, c.event(wait).EventID); n >= 0 && n < len(came) && !ok {
			want, ok = came[n], came[n] == got
		}
	}
	if c.t.Semantics == engine.SemanticsDiscard {
		return "the data of an event that came", any
	}
	return want, ok
}

// arrival returns the position of the event that a wait gets, or never. The n-th wait for a key gets the n-th event that
// found a wait (docs/contract/runtime.md#r7.7). known is false if the code has dropped a wait for the key, because the
// events do not say which of them came before that.
func (c *codeCheck) arrival(wait int) (pos int, known bool) {
	own, _ := waitOf(c.event(wait).Data)
	waits, served, mine, crumb := 0, 0, 0, never
	pos = never
	for at := range c.count() {
		e := c.event(at)
		if k, is := waitOf(e.Data); is && k == own {
			if at == wait {
				mine = waits
			}
			waits++
			if c.isDropped(e) {
				return 0, false
			}
			if f := c.fact(e.EventID); f.crumb != 0 && f.crumb < len(c.t.History) {
				crumb = min(crumb, f.crumb)
			}
		}
		if k, _, is := arrivalOf(e.Data); is && k == own && served < waits {
			if at > wait && served == mine {
				pos = at
			}
			served++
		}
	}
	return pos, crumb >= pos // with a breadcrumb before that, the code drops it no longer
}

// isDropped reports whether the code has dropped what an event schedules by the call that is being checked.
func (c *codeCheck) isDropped(e *engine.Event) bool { return c.token(c.fact(e.EventID).token).dropped }

// dequeued returns the message that a dequeue gets and marks it as taken. If the code has dropped a dequeue with the same
// name, it is the message from before the breadcrumb of that drop or from after it. Under SemanticsDiscard, the drop
// itself cancels.
func (c *codeCheck) dequeued(name string, dequeue int, got string) (want string, ok bool) {
	pos, known := c.message(name, dequeue)
	c.taken = append(c.taken, dequeue)
	want = "a message of the queue"
	if known {
		if pos == never {
			return want, false
		}
		want = c.event(pos).Data.(eventdata.QueueEventDelivered).Data
		c.taken = append(c.taken, pos)
		return shown(want), want == got
	}
	var open []uint64
	var came []int
	for at := range c.count() {
		e := c.event(at)
		switch d := e.Data.(type) {
		case eventdata.QueueSubscribed:
			gone := c.t.Semantics == engine.SemanticsDiscard && c.isDropped(e)
			if d.Name == name && !gone && (at == dequeue || !slices.Contains(c.taken, at)) {
				open = append(open, e.EventID)
			}
		case eventdata.QueueEventDelivered:
			if d.Name == name && !slices.Contains(c.taken, at) {
				came = append(came, at)
			}
		case eventdata.QueueSubscriptionCancelled:
			open = slices.DeleteFunc(open, func(id uint64) bool { return id == e.SourceEventID })
		}
		if n := slices.Index(open, c.event(dequeue).EventID); n >= 0 && n < len(came) && !ok {
			pos = came[n]
			text := c.event(pos).Data.(eventdata.QueueEventDelivered).Data
			want, ok = shown(text), text == got
		}
	}
	if ok {
		c.taken = append(c.taken, pos)
	}
	return want, ok
}

// message returns the position of the message that a dequeue gets, or never: of the messages that no dequeue has taken,
// the one whose index equals the number of open dequeues before it. known is false if the code has dropped a dequeue with
// the same name.
func (c *codeCheck) message(name string, dequeue int) (pos int, known bool) {
	before := 0
	for at := range c.count() {
		e := c.event(at)
		if d, is := e.Data.(eventdata.QueueSubscribed); is && d.Name == name {
			if at < dequeue && !slices.Contains(c.taken, at) {
				before++
			}
			if c.isDropped(e) {
				return 0, false
			}
		}
	}
	for at := range c.count() {
		if d, is := c.event(at).Data.(eventdata.QueueEventDelivered); is && d.Name == name && !slices.Contains(c.taken, at) {
			if before == 0 {
				return at, true
			}
			before--
		}
	}
	return never, true
}

// drop marks a future as dropped, along with the requests of its coroutine. It does nothing if the code already has the
// future's result.
func (c *codeCheck) drop(t orchhost.Token) {
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
