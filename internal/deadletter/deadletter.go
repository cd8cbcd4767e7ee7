package deadletter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/eventdata"
)

// Options configure a Box.
type Options struct {
	// After is how long work must be blocked before it is ended; it must be above 0.
	After time.Duration
	// Now returns the store's time in milliseconds.
	Now func() int64
	// Version stamps the events that the provider writes.
	Version engine.Version
	// Rules are the rules of the Box; nil means the correct ones.
	Rules *Rules
}

// Rules are the decisions of a Box that may be wrong. A planted bug replaces one of them (package faults has the
// table).
type Rules struct {
	// Due reports whether work that has been blocked for that long must be ended, given Options.After.
	Due func(blocked, after time.Duration) bool
	// TellsParent makes the Box answer the parent of a child that it ends.
	TellsParent bool
	// LooksUncounted makes a sweep abandon work without counting the attempt.
	LooksUncounted bool
}

// DefaultRules returns the correct rules.
func DefaultRules() *Rules {
	return &Rules{Due: func(blocked, after time.Duration) bool { return blocked >= after }, TellsParent: true, LooksUncounted: true}
}

// Letter is work that was ended because no node could fetch it.
type Letter struct {
	Instance  string
	Execution uint64
	Pin       *engine.Version
	Cause     string
	AtMs      int64
	Messages  []engine.WorkItem
}

// Box is the dead-letter policy of one store. It is not safe for concurrent use.
type Box struct {
	options  Options
	declared []declared // one for each range
	blocked  []sighting
	letters  []Letter
}

// declared is a range of pins that fetches have declared, and the time of the last such fetch.
type declared struct {
	pins   engine.VersionRange
	lastMs int64
}

// sighting is an instance that every sweep since a given time has found blocked.
type sighting struct {
	instance  string
	execution uint64
	sinceMs   int64
}

// New returns an empty box.
func New(o Options) *Box {
	if o.Rules == nil {
		o.Rules = DefaultRules()
	}
	return &Box{options: o}
}

// Letters returns the ended work, oldest first. The caller must not change it.
func (b *Box) Letters() []Letter { return b.letters }

// Watch returns a handle that records the filters of its fetches and otherwise behaves like p.
func (b *Box) Watch(p engine.Provider) engine.Provider {
	_, manages := p.(engine.ProviderAdmin)
	return call.Through(p.Name(), p.Version(), manages, func(ctx context.Context, c call.Call) call.Answer {
		if f, ok := c.(call.FetchOrchestrationItem); ok {
			b.note(f.Filter)
		}
		return call.Perform(ctx, p, c)
	})
}

// note records which pins a fetch admits: those of the filter's first range, as for the provider itself.
func (b *Box) note(f *engine.CapabilityFilter) {
	pins := engine.VersionRange{Max: last}
	if f != nil {
		if len(f.SupportedVersions) == 0 {
			return
		}
		pins = f.SupportedVersions[0]
	}
	for i := range b.declared {
		if b.declared[i].pins == pins {
			b.declared[i].lastMs = b.options.Now()
			return
		}
	}
	b.declared = append(b.declared, declared{pins, b.options.Now()})
}

// admitted returns the version ranges of the fetches made within the waiting time.
func (b *Box) admitted() (ranges []engine.VersionRange) {
	for _, d := range b.declared {
		if b.options.Now()-d.lastMs < b.options.After.Milliseconds() {
			ranges = append(ranges, d.pins)
		}
	}
	return ranges
}

// Sweep fetches the queued work that no recent fetch has admitted. It ends work that every sweep has found blocked for
// the time After, and abandons the rest without counting the attempt. The provider must answer without waiting.
func (b *Box) Sweep(ctx context.Context, p engine.Provider) {
	var tokens []string
	var blocked []sighting
	for _, gap := range gaps(b.admitted()) {
		for {
			f, err := p.FetchOrchestrationItem(ctx, lockFor, 0, engine.FilterFor(gap))
			if err != nil || f == nil {
				break
			}
			if f.Item.Pin == nil {
				tokens = append(tokens, f.LockToken) // any later sweep may take it
				continue
			}
			since := b.since(f)
			if !b.options.Rules.Due(time.Duration(b.options.Now()-since)*time.Millisecond, b.options.After) || !b.end(ctx, p, f, since) {
				tokens = append(tokens, f.LockToken)
				blocked = append(blocked, sighting{f.Item.Instance, f.Item.ExecutionID, since})
			}
		}
	}
	for _, token := range tokens {
		_ = p.AbandonOrchestrationItem(ctx, token, 0, b.options.Rules.LooksUncounted) // if it fails, the lock expires
	}
	b.blocked = blocked
}

// lockFor is the lock timeout of a sweep's fetches. The sweep releases its locks before it returns.
const lockFor = 5 * time.Second

// since returns the time since which every sweep has found an execution blocked.
func (b *Box) since(f *engine.FetchedOrchestration) int64 {
	for _, s := range b.blocked {
		if s.instance == f.Item.Instance && s.execution == f.Item.ExecutionID {
			return s.sinceMs
		}
	}
	return b.options.Now()
}

// end fails an execution that has been blocked since that time, or drops the messages queued for one that has ended. It
// reports whether it did either.
func (b *Box) end(ctx context.Context, p engine.Provider, f *engine.FetchedOrchestration, sinceMs int64) bool {
	item := &f.Item
	blocked := time.Duration(b.options.Now()-sinceMs) * time.Millisecond
	letter := Letter{
		Instance: item.Instance, Execution: item.ExecutionID, Pin: item.Pin, AtMs: b.options.Now(), Messages: slices.Clone(item.Messages),
		Cause: fmt.Sprintf("%sblocked for %v, since no fetch admits its pin %s", eventdata.DeadLetter, blocked.Truncate(time.Second), item.Pin),
	}
	ack := engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: item.ExecutionID}
	switch item.CurrentStatus {
	case engine.StatusCompleted, engine.StatusFailed:
		letter.Cause = eventdata.DeadLetter + "its execution has ended"
	case engine.StatusContinuedAsNew:
		if !b.beginNext(&ack, item) {
			return false
		}
		letter.Execution = ack.ExecutionID
		b.fail(&ack, f, letter.Cause)
	default:
		b.fail(&ack, f, letter.Cause)
	}
	if err := p.AckOrchestrationItem(ctx, ack); err != nil {
		return false
	}
	b.letters = append(b.letters, letter)
	return true
}
