package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// checkCode consumes the events that come from the code: schedules, state changes, and drops. A turn that fails before
// its code runs has no such events.
func (c *ackCheck) checkCode() {
	for c.at < len(c.delta) && len(c.wrong) == 0 {
		e := &c.delta[c.at]
		if isTerminal(e.Data) || endsWait(e.Data) {
			return
		}
		if c.abort != nil {
			c.say("%s: expected no event of the code, since the turn fails before it runs", event(e))
			return
		}
		c.at++
		c.checkCodeEvent(e)
		c.enter(e, false)
	}
}

// endsWait reports whether an event is the breadcrumb of a wait that was still open at the end.
func endsWait(d engine.EventData) bool { return reasonOf(d) == eventdata.ReasonTerminal }

// reasonOf returns the reason that a breadcrumb gives, and "" for other events.
func reasonOf(d engine.EventData) string {
	switch d := d.(type) {
	case eventdata.ActivityCancelRequested:
		return d.Reason
	case eventdata.SubOrchestrationCancelRequested:
		return d.Reason
	case eventdata.ExternalSubscribedCancelled:
		return d.Reason
	case eventdata.QueueSubscriptionCancelled:
		return d.Reason
	}
	return ""
}

func (c *ackCheck) checkCodeEvent(e *engine.Event) {
	switch d := e.Data.(type) {
	case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
		c.checkDrop(e, reasonOf(d), kindOf(d))
		return
	case eventdata.TimerCreated:
		if d.FireAtMs < e.TimestampMs {
			c.say("%s is due at %d: expected a time not before the turn's, %d", event(e), d.FireAtMs, e.TimestampMs)
		}
	case eventdata.SubOrchestrationScheduled:
		if want := c.ownID(e.EventID); d.Instance == "" {
			c.say("%s has no instance", event(e))
		} else if c.t.OwnChildIDs && strings.HasPrefix(d.Instance, "sub::") && d.Instance != want {
			c.say("%s has the instance %s: expected %s, or an id that does not begin with sub::", event(e), d.Instance, want)
		}
	case eventdata.ActivityScheduled, eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.QueueSubscribed,
		eventdata.OrchestrationChained:
	default:
		if changesState(d) {
			c.checkChange(e)
			break
		}
		c.say("%s of source %d: expected no such event, since no message of the batch causes it", event(e), e.SourceEventID)
		return
	}
	if e.SourceEventID != 0 {
		c.say("%s has the source %d: expected none", event(e), e.SourceEventID)
	}
}

// ownID returns the automatic id of the child that an event schedules, for a build with OwnChildIDs
// (docs/contract/runtime.md#r7.10).
func (c *ackCheck) ownID(event uint64) string {
	if c.t.Execution > 1 {
		return fmt.Sprintf("sub::%d_%d", c.t.Execution, event)
	}
	return fmt.Sprintf("sub::%d", event)
}

// checkDrop checks that a drop refers to a schedule of the given kind that has neither completed nor been dropped
// before. A wait may be dropped although its event has arrived; the event then goes to the next wait.
func (c *ackCheck) checkDrop(e *engine.Event, reason, kind string) {
	if reason != eventdata.ReasonDroppedFuture {
		c.say("%s has the reason %s: expected %s", event(e), reason, eventdata.ReasonDroppedFuture)
	}
	s := c.schedule(e.SourceEventID)
	if s == nil || kindOf(s.event.Data) != kind {
		c.say("%s drops event %d: expected a schedule of the kind %s", event(e), e.SourceEventID, kind)
		return
	}
	if s.withdrawn {
		c.say("%s drops event %d: expected one that was not dropped before", event(e), e.SourceEventID)
	}
	if s.closed != 0 {
		c.say("%s drops event %d: expected one that has not completed", event(e), e.SourceEventID)
	}
}

// events calls f for every event in the history, then for the events in the delta up to the end event.
func (c *ackCheck) events(f func(e *engine.Event)) {
	for i := range c.t.History {
		f(&c.t.History[i])
	}
	for i := range c.delta {
		e := &c.delta[i]
		if isTerminal(e.Data) || endsWait(e.Data) {
			return
		}
		f(e)
	}
}

// openWaits returns the positional waits that have neither an event nor a cancellation, in order. Of the uncancelled
// waits for a key, the n-th gets the n-th delivered event. An arriving event is delivered if there are more uncancelled
// waits than events delivered so far (docs/contract/runtime.md#r7.7). Under SemanticsDiscard, a dropped wait takes its
// event with it. The events do not show whether a wait was dropped before or after an event arrived, so after a drop it
// is uncertain which of the waits for its key got an event; see unsure.
func (c *ackCheck) openWaits() []uint64 {
	if !c.has("external") {
		return nil
	}
	live, delivered := map[waitKey][]uint64{}, map[waitKey]int{}
	var keys []waitKey
	c.events(func(e *engine.Event) {
		if k, is := waitOf(e.Data); is {
			if live[k] == nil {
				keys = append(keys, k)
			}
			live[k] = append(live[k], e.EventID)
		} else if k, _, is := arrivalOf(e.Data); is {
			if len(live[k]) > delivered[k] {
				delivered[k]++
			}
		} else if _, is := e.Data.(eventdata.ExternalSubscribedCancelled); is {
			for _, k := range keys {
				if i := slices.Index(live[k], e.SourceEventID); i >= 0 {
					if c.t.Semantics == engine.SemanticsDiscard && i < delivered[k] {
						delivered[k]--
					}
					live[k] = slices.Delete(live[k], i, i+1)
				}
			}
		}
	})
	open := map[uint64]bool{}
	for _, k := range keys {
		for i, id := range live[k] {
			open[id] = i >= delivered[k]
		}
	}
	return c.inOrder(func(s *schedule) bool { return open[s.event.EventID] })
}

// openDequeues returns the dequeues that have neither a message nor a cancellation, in order.
func (c *ackCheck) openDequeues() []uint64 {
	if !c.has("queue") {
		return nil
	}
	messages, cancelled := map[string]int{}, map[uint64]bool{}
	c.events(func(e *engine.Event) {
		switch d := e.Data.(type) {
		case eventdata.QueueEventDelivered:
			messages[d.Name]++
		case eventdata.QueueSubscriptionCancelled:
			cancelled[e.SourceEventID] = true
		}
	})
	seen := map[string]int{}
	return c.inOrder(func(s *schedule) bool {
		d, ok := s.event.Data.(eventdata.QueueSubscribed)
		if !ok || cancelled[s.event.EventID] {
			return false
		}
		seen[d.Name]++
		return seen[d.Name] > messages[d.Name]
	})
}

// has reports whether there is a schedule of the given kind.
func (c *ackCheck) has(kind string) bool {
	for i := range c.schedules {
		if kindOf(c.schedules[i].event.Data) == kind {
			return true
		}
	}
	return false
}

// inOrder returns the ids of the schedules that satisfy f, in order.
func (c *ackCheck) inOrder(f func(s *schedule) bool) (ids []uint64) {
	for i := range c.schedules {
		if f(&c.schedules[i]) {
			ids = append(ids, c.schedules[i].event.EventID)
		}
	}
	return ids
}

// brokenLimit describes the first limit that this turn breaks (docs/contract/runtime.md#r4.1). It returns "" if the
// turn breaks none.
func (c *ackCheck) brokenLimit() string {
	var status *string
	tag, value, asked := "", "", false
	for i := range c.delta {
		switch d := c.delta[i].Data.(type) {
		case eventdata.CustomStatusUpdated:
			asked = true
			if d.Status != nil {
				status = d.Status
			}
		case eventdata.ActivityScheduled:
			asked = asked || d.Tag != ""
			if tag == "" && len(d.Tag) > engine.MaxTagNameBytes {
				tag = fmt.Sprintf("Activity '%s' tag size (%d bytes) exceeds limit (%d bytes)", d.Name, len(d.Tag), engine.MaxTagNameBytes)
			}
		case eventdata.KeyValueSet:
			asked = true
			if value == "" && len(d.Value) > c.most.ValueBytes {
				value = fmt.Sprintf("KV value for key '%s' (%d bytes) exceeds limit (%d bytes)", d.Key, len(d.Value), c.most.ValueBytes)
			}
		case eventdata.KeyValueCleared, eventdata.KeyValuesCleared:
			asked = true
		}
	}
	switch {
	case !asked:
	case status != nil && len(*status) > engine.MaxCustomStatusBytes:
		return fmt.Sprintf("Custom status size (%d bytes) exceeds limit (%d bytes)", len(*status), engine.MaxCustomStatusBytes)
	case tag != "":
		return tag
	case value != "":
		return value
	default:
		if n := c.keys(); n > c.most.Keys {
			return fmt.Sprintf("KV key count (%d) exceeds limit (%d)", n, c.most.Keys)
		}
	}
	return ""
}

// keys returns how many keys the instance has after the turn.
func (c *ackCheck) keys() int {
	keys := map[string]bool{}
	for _, k := range c.t.Keys {
		keys[k.Key] = true
	}
	for _, events := range [][]engine.Event{c.t.History, c.delta} {
		for i := range events {
			switch d := events[i].Data.(type) {
			case eventdata.KeyValueSet:
				keys[d.Key] = true
			case eventdata.KeyValueCleared:
				delete(keys, d.Key)
			case eventdata.KeyValuesCleared:
				clear(keys)
			}
		}
	}
	return len(keys)
}
