package memprovider

import (
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/bugs"
)

// Bug is a seeded bug of the provider: a change of one rule.
type Bug struct {
	ID      bugs.ID
	Summary string
	Apply   func(*Rules)
}

// RulesWith are the rules with the set's provider bugs, nil (the default rules) if it has none. Ids of other families
// are ignored.
func RulesWith(set *bugs.Set) *Rules {
	var r *Rules
	for _, b := range Bugs() {
		if set.On(b.ID) {
			if r == nil {
				r = DefaultRules()
			}
			b.Apply(r)
		}
	}
	return r
}

// Bugs are the seeded bugs that this package owns, grouped by what they break. The caller owns the slice.
func Bugs() []Bug {
	return append([]Bug{
		{"provider/filter-after-lock", "the filter is applied after the lock is taken; the lock is released again",
			func(r *Rules) { r.FetchOrder = []FetchStep{FetchLock, FetchFilter, FetchCount, FetchDecode} }},
		{"provider/filter-after-count", "the filter is applied after the batch is counted; only the lock is released",
			func(r *Rules) { r.FetchOrder = []FetchStep{FetchLock, FetchCount, FetchFilter, FetchDecode} }},
		{"provider/filter-after-decode", "the filter is applied after the history is decoded; only the lock is released",
			func(r *Rules) { r.FetchOrder = []FetchStep{FetchLock, FetchCount, FetchDecode, FetchFilter} }},
		{"provider/decode-before-filter", "the history is decoded before the filter is applied; nothing is locked or counted",
			func(r *Rules) { r.FetchOrder = []FetchStep{FetchDecode, FetchFilter, FetchLock, FetchCount} }},
		{"provider/filter-ignored", "every filter admits everything",
			func(r *Rules) { r.Admits = admitsAll }},
		{"provider/any-range", "a pin in any of the ranges passes, not only in the first",
			func(r *Rules) { r.Admits = admitsAnyRange }},
		{"provider/exclusive-upper-bound", "the upper end of a range is taken as exclusive",
			func(r *Rules) { r.Admits = admitsBelow }},
		{"provider/text-comparison", "versions are compared as text",
			func(r *Rules) { r.Admits = admitsText }},
		{"provider/packed-comparison", "versions are compared as major*1000000 + minor*1000 + patch",
			func(r *Rules) { r.Admits = admitsPacked }},
		{"provider/unpinned-incompatible", "no filter admits unpinned work",
			func(r *Rules) { r.Admits = admitsPinned }},
		{"provider/empty-filter-as-none", "a filter without ranges is taken as no filter",
			func(r *Rules) { r.Admits = admitsIfEmpty }},
		{"provider/empty-filter-admits-unpinned", "a filter without ranges admits unpinned work",
			func(r *Rules) { r.Admits = admitsUnpinned }},
		{"provider/pin-of-first-execution", "the filter looks at the pin of the first execution",
			func(r *Rules) { r.Pin = func(_, first *engine.Version) *engine.Version { return first } }},
		{"provider/head-of-line-block", "a fetch finds nothing when the oldest instance cannot be delivered",
			func(r *Rules) { r.LooksPast = never }},
		{"provider/contextless-batch-blocks", "a fetch finds nothing while the oldest instance waits for its start",
			func(r *Rules) { r.LooksPastContextless = never }},
		{"provider/check-then-set-lock", "a fetch does not see a lock that was taken in the same millisecond",
			func(r *Rules) { r.SeesLock = func(takenMs, now int64) bool { return takenMs < now } }},
		{"provider/orphan-dropped-while-start-queued", "queue messages are dropped although a delayed start is queued",
			func(r *Rules) { r.IsOrphan = func(only, _ bool) bool { return only } }},
		{"provider/orphan-kept", "queue messages of an instance that never starts are kept for ever",
			func(r *Rules) { r.IsOrphan = func(_, _ bool) bool { return false } }},

		{"provider/undecodable-event-skipped", "a fetch leaves out events that it cannot decode",
			func(r *Rules) { r.SkipsUndecodable = always }},
		{"provider/error-while-locked", "a fetch that cannot decode fails, and keeps the lock",
			func(r *Rules) { r.DeliversDecodeError = never }},
		{"provider/count-lost-when-decoding-fails", "a delivery that cannot be decoded is not counted",
			func(r *Rules) { r.CountAfterDecodeError = func(before, _ uint32) uint32 { return before } }},
		{"provider/count-after-decode", "a batch is counted after it is decoded",
			func(r *Rules) { r.FetchOrder = []FetchStep{FetchFilter, FetchLock, FetchDecode, FetchCount} }},
		{"provider/no-row-decode-error-swallowed", "an undecodable history of an instance without a row is delivered as empty",
			func(r *Rules) { r.SwallowsDecodeError = func(hasRow bool) bool { return !hasRow } }},
		{"provider/undecodable-message-dropped", "a batch leaves out messages that it cannot decode, and the ack deletes them",
			func(r *Rules) { r.SkipsUndecodableMessage = always }},
		{"provider/undecodable-work-blocks", "an activity that cannot be decoded hides those behind it",
			func(r *Rules) { r.WorkLooksPast = never }},
		{"provider/count-reset-by-abandon", "an abandon sets the counts to zero",
			func(r *Rules) { r.CountAfterAbandon = func(uint32, bool) uint32 { return 0 } }},
		{"duroxide-0.1.26/abandon-touches-all", "an abandon delays every visible message of its instance, and takes an attempt from each (12.2)",
			func(r *Rules) { r.AbandonTouches = func(bool) bool { return true } }},
		{"provider/first-count", "a batch tells its first message's count, not the maximum",
			func(r *Rules) { r.BatchCount = func(told, _ uint32) uint32 { return told } }},
		{"provider/decrement-below-zero", "ignore_attempt takes two attempts back, and goes below zero",
			func(r *Rules) { r.CountAfterAbandon = lowerByTwo }},
		{"provider/ignore-attempt-ignored", "ignore_attempt takes nothing back",
			func(r *Rules) { r.CountAfterAbandon = func(count uint32, _ bool) uint32 { return count } }},

		{"provider/token-not-checked", "an ack is accepted from any token that was ever given out",
			func(r *Rules) { r.MayCommit = func(Holding) bool { return true } }},
		{"provider/expiry-not-checked", "an ack is accepted after the lock ran out",
			func(r *Rules) { r.MayCommit = ifNotSuperseded }},
		{"provider/renewal-after-expiry", "a renewal revives a lock that ran out",
			func(r *Rules) { r.MayRenew = ifNotSuperseded }},

		{"provider/renewal-adds", "a renewal adds to the end of the lock instead of counting from now",
			func(r *Rules) { r.RenewedUntil = func(_, endMs, extendMs int64) int64 { return endMs + extendMs } }},
		{"provider/abandon-takes-any-token", "an abandon is accepted from a token whose lock was released or taken over",
			func(r *Rules) { r.MayAbandon = func(Holding) bool { return true } }},

		{"provider/delay-ignored", "delays of enqueues and abandons are ignored",
			func(r *Rules) { r.VisibleAt = func(now, _ int64) int64 { return now } }},
		{"provider/timer-visible-at-once", "timers that an ack enqueues are visible at once",
			func(r *Rules) { r.TimerVisibleAt = func(now, _ int64) int64 { return now } }},

		{"provider/ack-partial", "an ack that fails keeps the steps before the failure",
			func(r *Rules) { r.AckIsAtomic = never }},
		{"provider/cancel-before-enqueue", "an ack deletes cancelled activities before it inserts new ones",
			func(r *Rules) { r.AckOrder = cancelFirst(r.AckOrder) }},
		{"provider/cancel-spares-held-work", "an ack does not delete cancelled activities that a worker holds",
			func(r *Rules) { r.Cancels = cancelsUnheld }},
		{"provider/cancel-ignores-execution", "an ack deletes activities of that number in every execution",
			func(r *Rules) { r.Cancels = cancelsInAny }},
		{"provider/late-arrivals-deleted-by-ack", "an ack deletes every visible message of its instance",
			func(r *Rules) { r.Consumes = func(bool) bool { return true } }},
		{"provider/ack-re-encodes", "an ack decodes and writes again the stored events of its execution",
			func(r *Rules) { r.RewritesHistory = always }},
		{"provider/ack-reads-history", "an ack decodes the stored events of its execution",
			func(r *Rules) { r.ReadsHistory = always }},
		{"provider/pin-inherited", "an execution gets its predecessor's pin, whatever its first turn says",
			func(r *Rules) { r.PinAfterAck = pinOrInherited }},
		{"provider/pin-write-once", "a pin that is set once is never overwritten",
			func(r *Rules) { r.PinAfterAck = pinOnce }},
		{"provider/execution-pointer-moved-back", "the current execution is the one that was acked last",
			func(r *Rules) { r.PointerAfterAck = func(_, acked uint64) uint64 { return acked } }},
	}, append(keptBugs(), deleteBugs()...)...)
}

func admitsAll(*engine.CapabilityFilter, *engine.Version) bool { return true }

// admitsFirst is the rule of the filter with another test of the first range.
func admitsFirst(f *engine.CapabilityFilter, pin *engine.Version, in func(r engine.VersionRange, v engine.Version) bool) bool {
	if f == nil || len(f.SupportedVersions) == 0 || pin == nil {
		return f.Admits(pin)
	}
	return in(f.SupportedVersions[0], *pin)
}

func admitsAnyRange(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return admitsFirst(f, pin, func(_ engine.VersionRange, v engine.Version) bool {
		for _, r := range f.SupportedVersions {
			if r.Contains(v) {
				return true
			}
		}
		return false
	})
}

func admitsBelow(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return admitsFirst(f, pin, func(r engine.VersionRange, v engine.Version) bool { return r.Contains(v) && v.Compare(r.Max) < 0 })
}

func admitsText(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return admitsFirst(f, pin, func(r engine.VersionRange, v engine.Version) bool {
		text := v.Triple().String()
		return strings.Compare(r.Min.Triple().String(), text) <= 0 && strings.Compare(text, r.Max.Triple().String()) <= 0
	})
}

func admitsPacked(f *engine.CapabilityFilter, pin *engine.Version) bool {
	pack := func(v engine.Version) uint64 {
		return uint64(v.Major)*1_000_000 + uint64(v.Minor)*1_000 + uint64(v.Patch)
	}
	return admitsFirst(f, pin, func(r engine.VersionRange, v engine.Version) bool {
		return pack(r.Min) <= pack(v) && pack(v) <= pack(r.Max)
	})
}

func admitsPinned(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return f.Admits(pin) && (f == nil || pin != nil)
}

func admitsUnpinned(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return f.Admits(pin) || pin == nil
}

func admitsIfEmpty(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return f.Admits(pin) || len(f.SupportedVersions) == 0
}

// lowerByTwo wraps: a count of one becomes the largest number, and the next delivery tells zero.
func lowerByTwo(count uint32, ignoreAttempt bool) uint32 {
	if ignoreAttempt {
		return count - 2
	}
	return count
}

// cancelFirst is the order with the cancellations before the enqueues of activities.
func cancelFirst(order []AckStep) []AckStep {
	var out []AckStep
	for _, step := range order {
		switch step {
		case AckEnqueueWork:
			out = append(out, AckCancelWork, AckEnqueueWork)
		case AckCancelWork:
		default:
			out = append(out, step)
		}
	}
	return out
}

func pinOrInherited(given, old, previous *engine.Version) *engine.Version {
	if previous != nil {
		return previous
	}
	return pinWhenTold(given, old, nil)
}

func pinOnce(given, old, _ *engine.Version) *engine.Version {
	if old != nil {
		return old
	}
	return given
}
