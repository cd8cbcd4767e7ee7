package faults

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// fetchBugs returns the bugs that break what a fetch finds, counts and decodes.
func fetchBugs() []Bug {
	return []Bug{
		{ID: "provider/filter-after-lock", Summary: "the filter is applied after the lock is taken; the lock is released again",
			Properties: []string{"S01"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.FetchOrder = moved(r.FetchOrder, memprovider.FetchFilter, 1) }},
		{ID: "provider/filter-after-count", Summary: "the filter is applied after the batch is counted; only the lock is released",
			Properties: []string{"S01", "S04"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.FetchOrder = moved(r.FetchOrder, memprovider.FetchFilter, 2) }},
		{ID: "provider/filter-after-decode", Summary: "the filter is applied after the history is decoded; only the lock is released",
			Properties: []string{"S02"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.FetchOrder = moved(r.FetchOrder, memprovider.FetchFilter, 3) }},
		{ID: "provider/decode-before-filter", Summary: "the history is decoded before the filter is applied; nothing is locked or counted",
			Properties: []string{"S02"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.FetchOrder = moved(r.FetchOrder, memprovider.FetchDecode, 0) }},
		{ID: "provider/filter-ignored", Summary: "every filter admits everything",
			Properties: []string{"S01", "L05"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.Admits = admitsAll }},
		{ID: "provider/any-range", Summary: "a pin in any of the filter's ranges passes, not only one in the first",
			Properties: []string{"S01"}, Scenario: twoRanges,
			provider: func(r *memprovider.Rules) { r.Admits = admitsAnyRange }},
		{ID: "provider/exclusive-upper-bound", Summary: "the upper end of a range is treated as exclusive",
			Properties: []string{"S22", "L09"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.Admits = admitsBelow }},
		{ID: "provider/text-comparison", Summary: "versions are compared as text",
			Properties: []string{"S01", "S22"}, Scenario: edges,
			provider: func(r *memprovider.Rules) { r.Admits = admitsText }},
		{ID: "provider/packed-comparison", Summary: "versions are compared as major*1000000 + minor*1000 + patch",
			Properties: []string{"S01", "S22"}, Scenario: edges,
			provider: func(r *memprovider.Rules) { r.Admits = admitsPacked }},
		{ID: "provider/unpinned-incompatible", Summary: "no filter admits unpinned work",
			Properties: []string{"S03"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.Admits = admitsPinned }},
		{ID: "provider/empty-filter-as-none", Summary: "a filter without ranges is treated as no filter",
			Properties: []string{"S01"}, Scenario: twoRanges,
			provider: func(r *memprovider.Rules) { r.Admits = admitsIfEmpty }},
		{ID: "provider/empty-filter-admits-unpinned", Summary: "a filter without ranges admits unpinned work",
			Properties: []string{"S03"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.Admits = admitsUnpinned }},
		{ID: "provider/pin-of-first-execution", StoreWide: true, Summary: "the filter looks at the pin of the first execution",
			Properties: []string{"S02"}, Scenario: continueNew,
			provider: func(r *memprovider.Rules) {
				r.Pin = func(_, first *engine.Version, _ bool) *engine.Version { return first }
			}},
		{ID: "provider/ended-unfiltered", StoreWide: true, Summary: "an instance that has ended passes every filter, whatever its pin", Source: "docs/contract-decisions.md#ended-pin",
			Properties: []string{"S01"}, Scenario: rolledBack,
			provider: func(r *memprovider.Rules) {
				r.Pin = func(current, _ *engine.Version, ended bool) *engine.Version {
					if ended {
						return nil
					}
					return current
				}
			}},
		{ID: "provider/head-of-line-block", Summary: "a fetch finds nothing when the oldest instance cannot be delivered",
			Properties: []string{"S22"}, Scenario: nobody,
			provider: func(r *memprovider.Rules) { r.LooksPast = false }},
		{ID: "provider/contextless-batch-blocks", Summary: "a fetch finds nothing while the oldest instance waits for its start",
			Properties: []string{"S22"}, Scenario: earlyInput,
			provider: func(r *memprovider.Rules) { r.LooksPastContextless = false }},
		{ID: "provider/check-then-set-lock", StoreWide: true, Summary: "a fetch does not see a lock that was taken in the same millisecond",
			Properties: []string{"S05"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.SeesLock = func(takenMs, now int64) bool { return takenMs < now } }},
		{ID: "provider/orphan-dropped-while-start-queued", StoreWide: true, Summary: "queue messages are dropped although a delayed start is queued",
			Properties: []string{"S12"}, Scenario: probes,
			provider: func(r *memprovider.Rules) { r.IsOrphan = func(only, _ bool) bool { return only } }},
		{ID: "provider/orphan-kept", StoreWide: true, Summary: "queue messages of an instance that never starts are kept forever",
			Properties: []string{"S22"}, Scenario: probes,
			provider: func(r *memprovider.Rules) { r.IsOrphan = func(_, _ bool) bool { return false } }},
		{ID: "provider/undecodable-event-skipped", Summary: "a fetch omits events that it cannot decode",
			Properties: []string{"S18"}, Scenario: badHistory,
			provider: func(r *memprovider.Rules) { r.SkipsUndecodable = true }},
		{ID: "provider/error-while-locked", Summary: "a fetch that cannot decode fails, and keeps the lock",
			Properties: []string{"S18"}, Scenario: badHistory,
			provider: func(r *memprovider.Rules) { r.DeliversDecodeError = false }},
		{ID: "provider/count-lost-when-decoding-fails", Summary: "a delivery that cannot be decoded is not counted",
			Properties: []string{"S04", "L01"}, Scenario: badHistory,
			provider: func(r *memprovider.Rules) { r.CountAfterDecodeError = func(before, _ uint32) uint32 { return before } }},
		{ID: "provider/count-after-decode", Summary: "a batch is counted after it is decoded",
			provider: func(r *memprovider.Rules) { r.FetchOrder = moved(r.FetchOrder, memprovider.FetchDecode, 2) }},
		{ID: "provider/no-row-decode-error-swallowed", Summary: "an undecodable history of an instance without a row is delivered as empty",
			provider: func(r *memprovider.Rules) { r.SwallowsDecodeError = func(hasRow bool) bool { return !hasRow } }},
		{ID: "provider/undecodable-message-dropped", Summary: "a batch omits messages that cannot be decoded, and the ack deletes them",
			provider: func(r *memprovider.Rules) { r.SkipsUndecodableMessage = true }},
		{ID: "provider/undecodable-history-is-orphan", Summary: "queue messages for an instance whose history cannot be decoded are dropped as orphans", Source: "docs/contract/incidents.md#p15",
			Properties: []string{"S22"}, Scenario: "damaged-histories",
			provider: func(r *memprovider.Rules) { r.UndecodableIsOrphan = true }},
		{ID: "provider/session-blocks-queue", Summary: "a work fetch finds nothing while an older activity belongs to another owner's session", Source: "docs/contract/incidents.md#p7",
			Properties: []string{"S22"}, Scenario: sessions,
			provider: func(r *memprovider.Rules) { r.WorkLooksPastSessions = false }},
		{ID: "provider/undecodable-work-blocks", Summary: "an activity that cannot be decoded blocks those behind it",
			provider: func(r *memprovider.Rules) { r.WorkLooksPast = false }},
		{ID: "provider/count-reset-by-abandon", Summary: "an abandon sets the attempt counts to zero",
			Properties: []string{"S04", "L01"}, Scenario: badHistory,
			provider: func(r *memprovider.Rules) { r.CountAfterAbandon = func(uint32, bool) uint32 { return 0 } }},
		{ID: "provider/first-count", Summary: "a batch reports its first message's attempt count, not the maximum",
			Properties: []string{"S04"}, Scenario: continueNew,
			provider: func(r *memprovider.Rules) { r.BatchCount = func(told, _ uint32) uint32 { return told } }},
		{ID: "provider/decrement-below-zero", Summary: "ignore_attempt lowers the count by two, below zero if need be",
			Properties: []string{"S04"}, Scenario: twoRanges,
			provider: func(r *memprovider.Rules) { r.CountAfterAbandon = lowerByTwo }},
		{ID: "provider/ignore-attempt-ignored", Summary: "ignore_attempt does not lower the count",
			Properties: []string{"S04"}, Scenario: twoRanges,
			provider: func(r *memprovider.Rules) { r.CountAfterAbandon = func(count uint32, _ bool) uint32 { return count } }},
	}
}

func admitsAll(*engine.CapabilityFilter, *engine.Version) bool { return true }

// admitsFirst is the correct filter rule, except that in decides whether the first range contains the pin.
func admitsFirst(f *engine.CapabilityFilter, pin *engine.Version, in func(r engine.VersionRange, v engine.Version) bool) bool {
	if f == nil || len(f.SupportedVersions) == 0 || pin == nil {
		return f.Admits(pin)
	}
	return in(f.SupportedVersions[0], *pin)
}

func admitsAnyRange(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return admitsFirst(f, pin, func(_ engine.VersionRange, v engine.Version) bool {
		return slices.ContainsFunc(f.SupportedVersions, func(r engine.VersionRange) bool { return r.Contains(v) })
	})
}

func admitsBelow(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return admitsFirst(f, pin, func(r engine.VersionRange, v engine.Version) bool { return r.Contains(v) && v.Compare(r.Max) < 0 })
}

func admitsAbove(f *engine.CapabilityFilter, pin *engine.Version) bool {
	return admitsFirst(f, pin, func(r engine.VersionRange, v engine.Version) bool { return r.Contains(v) && v.Compare(r.Min) > 0 })
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

// lowerByTwo wraps around: a count of one becomes the largest number, and the next delivery reports zero.
func lowerByTwo(count uint32, ignoreAttempt bool) uint32 {
	if ignoreAttempt {
		return count - 2
	}
	return count
}
