package deadletter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// Options configures a Queue.
type Options struct {
	// After is the time for which work must have been blocked before the Queue ends it. It must be positive.
	After time.Duration
	// Now returns the store's time in milliseconds.
	Now func() int64
	// Version is stamped on the events that the Queue writes.
	Version engine.Version
	// Rules holds the Queue's rules; nil means DefaultRules.
	Rules *Rules
}

// Rules holds the decisions that a Queue can get wrong. Each planted bug replaces one of them (package faults has the
// table of bugs).
type Rules struct {
	// Due reports whether work that has been blocked for that long must be ended. after is Options.After.
	Due func(blocked, after time.Duration) bool
	// TellsParent makes the Queue answer the parent of a child that it ends.
	TellsParent bool
}

// DefaultRules returns the correct rules.
func DefaultRules() *Rules {
	return &Rules{Due: func(blocked, after time.Duration) bool { return blocked >= after }, TellsParent: true}
}

// Message is work that was ended because no node could fetch it.
type Message struct {
	Instance  string
	Execution uint64
	Pin       *engine.Version
	Cause     string
	AtMs      int64
	Messages  []engine.WorkItem
}

// Queue implements the dead-letter policy for one store. It is not safe for concurrent use.
type Queue struct {
	options  Options
	declared []declared // one per range
	blocked  []sighting
	messages []Message
}

// declared is a range of pins declared by a fetch, with the time of the latest such fetch.
type declared struct {
	pins   engine.VersionRange
	lastMs int64
}

// sighting is an instance that every sweep since a certain time has found blocked, and that no fetch since then has
// admitted.
type sighting struct {
	instance  string
	execution uint64
	pin       engine.Version
	sinceMs   int64
}

// New returns an empty queue.
func New(o Options) *Queue {
	if o.Rules == nil {
		o.Rules = DefaultRules()
	}
	return &Queue{options: o}
}

// Messages returns the ended work, oldest first. The slice must not be modified.
func (b *Queue) Messages() []Message { return b.messages }

// Watch returns a handle that behaves like p but records the filter of each fetch.
func (b *Queue) Watch(p engine.Provider) engine.Provider {
	_, manages := p.(engine.ProviderAdmin)
	return call.Through(p.Name(), p.Version(), manages, func(ctx context.Context, c call.Call) call.Answer {
		if f, ok := c.(call.FetchOrchestrationItem); ok {
			b.note(f.Filter)
		}
		return call.Perform(ctx, p, c)
	})
}

// note records the pins that a fetch admits. Only the filter's first range counts, as for the provider. Work with such a
// pin is not blocked any more: what the next sweep finds may have been queued after the fetch.
func (b *Queue) note(f *engine.CapabilityFilter) {
	pins := engine.VersionRange{Max: last}
	if f != nil {
		if len(f.SupportedVersions) == 0 {
			return
		}
		pins = f.SupportedVersions[0]
	}
	b.declared = slices.DeleteFunc(b.declared, func(d declared) bool { return d.pins == pins })
	b.declared = append(b.declared, declared{pins, b.options.Now()})
	b.blocked = slices.DeleteFunc(b.blocked, func(s sighting) bool { return pins.Contains(s.pin) })
}

// admitted returns the version ranges declared by fetches within the last Options.After.
func (b *Queue) admitted() (ranges []engine.VersionRange) {
	for _, d := range b.declared {
		if b.options.Now()-d.lastMs < b.options.After.Milliseconds() {
			ranges = append(ranges, d.pins)
		}
	}
	return ranges
}

// Sweep fetches the queued work that no fetch within the last Options.After has admitted. If every sweep has found the
// work blocked for at least Options.After, Sweep ends it. If not, Sweep abandons it without counting an attempt. The
// provider must answer without waiting.
func (b *Queue) Sweep(ctx context.Context, p engine.Provider) {
	var tokens []string
	var blocked []sighting
	for _, gap := range gaps(b.admitted()) {
		for {
			f, err := p.FetchOrchestrationItem(ctx, lockFor, 0, engine.FilterFor(gap))
			if err != nil || f == nil {
				break
			}
			if f.Item.Pin == nil {
				tokens = append(tokens, f.LockToken) // unpinned: abandoned below; a later sweep may fetch it again
				continue
			}
			since := b.since(f)
			if !b.options.Rules.Due(time.Duration(b.options.Now()-since)*time.Millisecond, b.options.After) || !b.end(ctx, p, f, since) {
				tokens = append(tokens, f.LockToken)
				blocked = append(blocked, sighting{f.Item.Instance, f.Item.ExecutionID, *f.Item.Pin, since})
			}
		}
	}
	for _, token := range tokens {
		_ = p.AbandonOrchestrationItem(ctx, token, 0, true) // a look is no attempt; if this fails, the lock expires anyway
	}
	b.blocked = blocked
}

// lockFor is the lock timeout for a sweep's fetches. The sweep releases its locks before it returns.
const lockFor = 5 * time.Second

// since returns the time since which every sweep has found the execution blocked and no fetch has admitted it.
func (b *Queue) since(f *engine.FetchedOrchestration) int64 {
	for _, s := range b.blocked {
		if s.instance == f.Item.Instance && s.execution == f.Item.ExecutionID && s.pin == *f.Item.Pin { // an id can be used again
			return s.sinceMs
		}
	}
	return b.options.Now()
}

// end fails an execution that has been blocked since sinceMs. If the execution has already ended, end drops its queued
// messages instead. The parents of starts that come too late are told. It reports whether it succeeded.
func (b *Queue) end(ctx context.Context, p engine.Provider, f *engine.FetchedOrchestration, sinceMs int64) bool {
	item := &f.Item
	blocked := time.Duration(b.options.Now()-sinceMs) * time.Millisecond
	message := Message{
		Instance: item.Instance, Execution: item.ExecutionID, Pin: item.Pin, AtMs: b.options.Now(), Messages: slices.Clone(item.Messages),
		Cause: fmt.Sprintf("%sblocked for %v, since no fetch admits its pin %s", eventdata.DeadLetter, blocked.Truncate(time.Second), item.Pin),
	}
	ack := engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: item.ExecutionID}
	switch item.CurrentStatus {
	case engine.StatusCompleted, engine.StatusFailed:
		message.Cause = eventdata.DeadLetter + "its execution has ended"
	case engine.StatusContinuedAsNew:
		if !b.beginNext(&ack, item) {
			return false
		}
		message.Execution = ack.ExecutionID
		b.fail(&ack, f, message.Cause)
	default:
		b.fail(&ack, f, message.Cause)
	}
	b.refuseStarts(&ack, item)
	if err := p.AckOrchestrationItem(ctx, ack); err != nil {
		return false
	}
	b.messages = append(b.messages, message)
	return true
}
