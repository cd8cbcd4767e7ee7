package replay

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/bugs"
)

// Bug is a seeded bug of this package: it replaces one rule.
type Bug struct {
	ID      bugs.ID
	Summary string
	Apply   func(*Rules)
}

// Bugs are the seeded bugs of this package. Each call makes a fresh slice.
func Bugs() []Bug {
	return []Bug{
		{"engine/stale-completion-accepted", "a completion of another execution is taken for one of the current execution",
			func(r *Rules) { r.ForThisExecution = func(uint64, uint64) bool { return true } }},
		{"engine/duplicate-completion-applied", "a completion of a schedule that is closed already is recorded and applied",
			func(r *Rules) { r.IsDuplicate = func(bool, bool) bool { return false } }},
		{"engine/completion-to-oldest-schedule", "a completion is recorded for the oldest open schedule of its kind instead of its own",
			func(r *Rules) { r.Completes = oldestOpen }},
		{"engine/pins-every-turn", "every turn pins its execution to the build that makes it",
			func(r *Rules) { r.Pins = func(bool) bool { return true } }},
		{"engine/select-winner-not-replayed", "when several futures are ready, the last wins at first and the first wins in replay",
			func(r *Rules) { r.Winner = lastReadyAtFirst }},
		{"engine/result-to-wrong-await", "a result goes to the oldest open future of its kind instead of its own",
			func(r *Rules) { r.Recipient = oldestPending }},
		{"engine/writes-newer-kind", "a build writes what it emits, whatever the pinned build reads",
			func(r *Rules) {
				r.Writes = func(b *engine.Build, k engine.EventKind, _ *engine.Version) bool { return b.Emits.Has(k) }
			}},
		{"engine/cancel-ignored", "a cancel request is recorded and does not end the execution",
			func(r *Rules) { r.CancelEnds = never }},
		{"engine/parent-not-told", "a child's end is not told to its parent",
			func(r *Rules) { r.TellsParent = func(Result) bool { return false } }},
		{"engine/child-failure-as-result", "a child that fails is told to its parent as completed, with the failure's text",
			func(r *Rules) { r.AnswersResult = func(Result) bool { return true } }},
		{"engine/cancelled-activity-kept", "a dropped activity is recorded as such and its work is not withdrawn",
			func(r *Rules) { r.WithdrawsDropped = never }},
		{"engine/can-parent-lost", "a child that continues as new forgets its parent",
			func(r *Rules) { r.CarriedParent = func(*engine.ParentLink) *engine.ParentLink { return nil } }},
		{"engine/completion-before-history-order", "new completions are applied in the order of their schedules, not in that of history",
			func(r *Rules) { r.ApplyOrder = bySchedule }},
		{"duroxide-0.1.26/detached-lost-in-can", "a detached start in a turn that continues as new is recorded and never enqueued",
			func(r *Rules) {
				r.StartsDetached = func(res Result) bool { return res != ResultCancelled && res != ResultContinueAsNew }
			}},
		{"duroxide-0.1.26/other-outcome-applied", "a completion of the other outcome for a closed schedule is applied and kills the execution",
			func(r *Rules) { r.IsDuplicate = func(closed, sameOutcome bool) bool { return closed && sameOutcome } }},
		{"duroxide-0.1.26/children-left-running", "continue-as-new, a panic and a nondeterminism leave the children running",
			func(r *Rules) {
				r.CancelsChildren = func(res Result, returned bool) bool { return returned || res == ResultCancelled }
			}},
		{"duroxide-0.1.26/unstarted-child-cancelled", "a child whose start is not enqueued gets a cancel",
			func(r *Rules) { r.CancelsUnstarted = always }},
		{"duroxide-0.1.26/parent-execution-guessed", "a child answers its parent's first execution, whichever scheduled it",
			func(r *Rules) {
				r.ChildsParent = func(own engine.ParentLink) engine.ParentLink {
					own.ExecutionID = engine.InitialExecutionID
					return own
				}
			}},
		{"engine/queue-slot-wrong", "a dropped dequeue keeps its place, and takes the message of the next one with it",
			func(r *Rules) { r.QueueSlot = func(open, cancelled int) int { return open + cancelled } }},
		{"engine/carry-forward-reordered", "unread queue messages cross a continue-as-new in reverse",
			func(r *Rules) { r.CarryForward = carryReversed }},
		{"engine/carry-forward-lost", "unread queue messages do not cross a continue-as-new",
			func(r *Rules) {
				r.CarryForward = func(unread []engine.CarriedEvent) (_, _ []engine.CarriedEvent) { return nil, unread }
			}},
		{"engine/custom-status-not-carried", "the custom status does not cross a continue-as-new",
			func(r *Rules) { r.CarriedStatus = func(*string) *string { return nil } }},
		{"duroxide-0.1.26/refused-start-untold", "the parent of a child whose id exists already is not answered (13.6 62)",
			func(r *Rules) { r.AnswersRefusedStart = never }},
		{"duroxide-0.1.26/freed-event-waits", "an event that passes to the next wait when a wait is dropped is noticed by chance (13.4 44)",
			func(r *Rules) { r.FreedEventWakes = never }},
		{"duroxide-0.1.26/dropped-dequeue-early", "a dropped dequeue gives its message up before that is recorded, and the replay differs (13.4 45)",
			func(r *Rules) { r.DropsBeforeBreadcrumb = always }},
		{"duroxide-0.1.26/pending-dequeue-reads", "a dequeue that has not taken its message keeps it from the next execution (13.2 25)",
			func(r *Rules) { r.PendingDequeueReads = always }},
		{"duroxide-0.1.26/kv-stamp-fresh", "a key set by this execution is as old as the turn that replays it (7.11)",
			func(r *Rules) { r.KVStamp = func(_ uint64, _ bool, nowMs uint64) uint64 { return nowMs } }},
		{"duroxide-0.1.26/prune-unordered", "a prune clears its keys in an order that a replay does not repeat (13.6 60)",
			func(r *Rules) { r.PruneOrder = reversedAtFirst }},
		{"duroxide-0.1.26/kv-keys-per-turn", "keys of earlier turns of the execution do not count for the limit (13.6 59)",
			func(r *Rules) { r.KVKeyCount = func(_, ofTurn func() int) int { return ofTurn() } }},
		{"duroxide-0.1.26/limit-failure-appended", "a broken limit fails the execution after all else, and tells nobody (13.6 58)",
			func(r *Rules) { r.LimitEnds = never }},
	}
}

func carryReversed(unread []engine.CarriedEvent) (carried, lost []engine.CarriedEvent) {
	carried, lost = carryOldest(unread)
	carried = slices.Clone(carried)
	slices.Reverse(carried)
	return carried, lost
}

func reversedAtFirst(replaying bool, keys []string) []string {
	if !replaying {
		slices.Reverse(keys)
	}
	return keys
}

func lastReadyAtFirst(replaying bool, n int, ready func(i int) bool) int {
	if replaying {
		return firstReady(replaying, n, ready)
	}
	for i := n - 1; i >= 0; i-- {
		if ready(i) {
			return i
		}
	}
	return -1
}

func oldestOpen(own uint64, open func() []uint64) uint64 {
	if o := open(); len(o) > 0 {
		return o[0]
	}
	return own
}

func oldestPending(own orch.Token, pending func() []orch.Token) orch.Token {
	if p := pending(); len(p) > 0 {
		return p[0]
	}
	return own
}

func bySchedule(a, b *engine.Event) int { return cmp.Compare(a.SourceEventID, b.SourceEventID) }
