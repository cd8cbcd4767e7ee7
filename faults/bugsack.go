package faults

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// ackBugs returns the bugs that break tokens, renewals, delays and acks.
func ackBugs() []Bug {
	return []Bug{
		{ID: "provider/token-not-checked", Summary: "an ack is accepted with any token that was ever issued",
			Properties: []string{"S05"}, Scenario: lostLocks,
			provider: func(r *memprovider.Rules) { r.MayCommit = func(memprovider.Holding) bool { return true } }},
		{ID: "provider/expiry-not-checked", Summary: "an ack is accepted after the lock has expired",
			Properties: []string{"S05"}, Scenario: lostLocks,
			provider: func(r *memprovider.Rules) { r.MayCommit = ifNotSuperseded }},
		{ID: "provider/renewal-after-expiry", Summary: "a renewal revives an expired lock",
			Properties: []string{"S05", "L08"}, Scenario: lateRenewal,
			provider: func(r *memprovider.Rules) { r.MayRenew = ifNotSuperseded }},
		{ID: "provider/renewal-adds", Summary: "a renewal extends the lock from its end instead of from now",
			Properties: []string{"S05"}, Scenario: slowWork,
			provider: func(r *memprovider.Rules) {
				r.RenewedUntil = func(_, endMs, extendMs int64) int64 { return endMs + extendMs }
			}},
		{ID: "provider/abandon-takes-any-token", Summary: "an abandon is accepted with a token whose lock was released or taken over",
			Properties: []string{"S05"}, Scenario: probes,
			provider: func(r *memprovider.Rules) { r.MayAbandon = func(memprovider.Holding) bool { return true } }},
		{ID: "provider/delay-ignored", Summary: "delays of enqueues and abandons are ignored",
			Properties: []string{"S15"}, Scenario: badHistory,
			provider: func(r *memprovider.Rules) { r.VisibleAt = func(now, _ int64) int64 { return now } }},
		{ID: "provider/abandon-hides", Summary: "an abandon without a delay hides its messages for five seconds", Source: "docs/contract/incidents.md#p1",
			Properties: []string{"S15"}, Scenario: probes,
			provider: func(r *memprovider.Rules) {
				r.AbandonDelay = func(delayMs int64) int64 { return cmp.Or(delayMs, 5000) }
			}},
		{ID: "provider/timer-visible-at-once", Summary: "timers that an ack enqueues are visible at once",
			Properties: []string{"S15"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.TimerVisibleAt = func(now, _ int64) int64 { return now } }},
		{ID: "provider/ack-partial", Summary: "an ack that fails keeps the steps before the failure",
			Properties: []string{"S06"}, Scenario: tornAcks,
			provider: func(r *memprovider.Rules) { r.AckIsAtomic = false }},
		{ID: "provider/cancel-before-enqueue", Summary: "an ack deletes cancelled activities before it inserts new ones",
			Properties: []string{"S06"}, Scenario: races,
			provider: func(r *memprovider.Rules) {
				r.AckOrder = moved(r.AckOrder, memprovider.AckCancelWork, slices.Index(r.AckOrder, memprovider.AckEnqueueWork))
			}},
		{ID: "provider/cancel-spares-held-work", Summary: "an ack does not delete cancelled activities that a worker holds",
			Properties: []string{"S06"}, Scenario: families,
			provider: cancelsUnheld},
		{ID: "provider/cancel-ignores-execution", Summary: "an ack deletes the activities with the cancelled id in every execution",
			provider: func(r *memprovider.Rules) { r.Cancels = cancelsInAnyExecution }},
		{ID: "provider/late-arrivals-deleted-by-ack", Summary: "an ack deletes every visible message of its instance",
			Properties: []string{"S12"}, Scenario: lostLocks,
			provider: func(r *memprovider.Rules) { r.Consumes = func(bool) bool { return true } }},
		{ID: "provider/ack-re-encodes", Summary: "an ack decodes and rewrites the stored events of its execution",
			Properties: []string{"S07"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.RewritesHistory = true }},
		{ID: "provider/ack-reads-history", Summary: "an ack decodes the stored events of its execution",
			Properties: []string{"S07"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.ReadsHistory = true }},
		{ID: "provider/pin-inherited", Summary: "an execution inherits its predecessor's pin, whatever pin its first turn sets",
			Properties: []string{"S09"}, Scenario: continueNew,
			provider: inheritsPin},
		{ID: "provider/pin-write-once", Summary: "a pin, once set, is never overwritten",
			Properties: []string{"S06"}, Scenario: probes,
			provider: func(r *memprovider.Rules) { r.PinAfterAck = pinOnce }},
		{ID: "provider/execution-pointer-moved-back", Summary: "the current execution is the one that was acked last",
			Properties: []string{"S06"}, Scenario: probes,
			provider: func(r *memprovider.Rules) { r.PointerAfterAck = func(_, acked uint64) uint64 { return acked } }},
	}
}

func ifNotSuperseded(h memprovider.Holding) bool { return !h.Superseded }

func cancelsUnheld(r *memprovider.Rules) {
	right := r.Cancels
	r.Cancels = func(execution, activity uint64, held bool, id engine.ScheduledActivityIdentifier) bool {
		return !held && right(execution, activity, held, id)
	}
}

func cancelsInAnyExecution(_, activity uint64, _ bool, id engine.ScheduledActivityIdentifier) bool {
	return activity == id.ActivityID
}

func inheritsPin(r *memprovider.Rules) {
	right := r.PinAfterAck
	r.PinAfterAck = func(given, old, previous *engine.Version) *engine.Version {
		if previous != nil {
			return previous
		}
		return right(given, old, nil)
	}
}

func pinOnce(given, old, _ *engine.Version) *engine.Version {
	if old != nil {
		return old
	}
	return given
}
