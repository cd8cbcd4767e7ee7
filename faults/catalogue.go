package faults

import "github.com/durosim/durosim/internal/bugs"

// expectation is what a bug is expected to break, and where.
type expectation struct {
	id         bugs.ID
	properties []string
	scenario   string
}

// The scenarios that show bugs.
const (
	upgrade = "rolling-upgrade"
)

// expectations are the bugs of this version's catalogue, in the order of families. Each has been watched being caught
// (cmd/simrun's kill matrix is a test).
func expectations() []expectation {
	return []expectation{
		{"duroxide-0.1.26/children-left-running", []string{"?"}, upgrade},
		{"duroxide-0.1.26/corrupted-parent-not-told", []string{"?"}, upgrade},
		{"duroxide-0.1.26/detached-lost-in-can", []string{"?"}, upgrade},
		{"duroxide-0.1.26/other-outcome-applied", []string{"?"}, upgrade},
		{"duroxide-0.1.26/parent-execution-guessed", []string{"?"}, upgrade},
		{"duroxide-0.1.26/poison-cancels-nothing", []string{"?"}, upgrade},
		{"duroxide-0.1.26/poison-on-old-execution", []string{"?"}, upgrade},
		{"duroxide-0.1.26/renewal-stops-at-shutdown", []string{"?"}, upgrade},
		{"duroxide-0.1.26/turn-renewal-gives-up", []string{"?"}, upgrade},
		{"duroxide-0.1.26/unstarted-child-cancelled", []string{"?"}, upgrade},
		{"duroxide-0.1.26/version-check-first", []string{"?"}, upgrade},
		{"engine/ack-failure-fails-orchestration", []string{"?"}, upgrade},
		{"engine/backoff-doubles-forever", []string{"?"}, upgrade},
		{"engine/can-input-dropped", []string{"?"}, upgrade},
		{"engine/can-parent-lost", []string{"?"}, upgrade},
		{"engine/cancel-ignored", []string{"?"}, upgrade},
		{"engine/cancelled-activity-kept", []string{"?"}, upgrade},
		{"engine/completion-before-history-order", []string{"?"}, upgrade},
		{"engine/count-ignored", []string{"?"}, upgrade},
		{"engine/duplicate-completion-applied", []string{"?"}, upgrade},
		{"engine/filter-not-declared", []string{"?"}, upgrade},
		{"engine/history-error-ignores-attempt", []string{"?"}, upgrade},
		{"engine/incompatible-abandon-ignores-attempt", []string{"?"}, upgrade},
		{"engine/lock-not-renewed", []string{"?"}, upgrade},
		{"engine/parent-not-told", []string{"?"}, upgrade},
		{"engine/phantom-activity", []string{"?"}, upgrade},
		{"engine/poison-off-by-one", []string{"?"}, upgrade},
		{"engine/poisons-terminal", []string{"?"}, upgrade},
		{"engine/poll-stops", []string{"?"}, upgrade},
		{"engine/renewal-error-cancels-activity", []string{"?"}, upgrade},
		{"engine/result-to-wrong-await", []string{"?"}, upgrade},
		{"engine/select-winner-not-replayed", []string{"?"}, upgrade},
		{"engine/stale-completion-accepted", []string{"?"}, upgrade},
		{"engine/turn-not-retried", []string{"?"}, upgrade},
		{"engine/version-check-missing", []string{"?"}, upgrade},
		{"engine/writes-newer-kind", []string{"?"}, upgrade},
		{"provider/ack-partial", []string{"?"}, upgrade},
		{"provider/ack-re-encodes", []string{"?"}, upgrade},
		{"provider/any-range", []string{"?"}, upgrade},
		{"provider/cancel-before-enqueue", []string{"?"}, upgrade},
		{"provider/count-lost-when-decoding-fails", []string{"?"}, upgrade},
		{"provider/count-reset-by-abandon", []string{"?"}, upgrade},
		{"provider/decrement-below-zero", []string{"?"}, upgrade},
		{"provider/delay-ignored", []string{"?"}, upgrade},
		{"provider/empty-filter-as-none", []string{"?"}, upgrade},
		{"provider/error-while-locked", []string{"?"}, upgrade},
		{"provider/exclusive-upper-bound", []string{"?"}, upgrade},
		{"provider/execution-pointer-moved-back", []string{"?"}, upgrade},
		{"provider/expiry-not-checked", []string{"?"}, upgrade},
		{"provider/filter-after-count", []string{"?"}, upgrade},
		{"provider/filter-after-decode", []string{"?"}, upgrade},
		{"provider/filter-after-lock", []string{"?"}, upgrade},
		{"provider/filter-ignored", []string{"?"}, upgrade},
		{"provider/first-count", []string{"?"}, upgrade},
		{"provider/head-of-line-block", []string{"?"}, upgrade},
		{"provider/ignore-attempt-ignored", []string{"?"}, upgrade},
		{"provider/late-arrivals-deleted-by-ack", []string{"?"}, upgrade},
		{"provider/orphan-dropped-while-start-queued", []string{"?"}, upgrade},
		{"provider/orphan-kept", []string{"?"}, upgrade},
		{"provider/packed-comparison", []string{"?"}, upgrade},
		{"provider/pin-inherited", []string{"?"}, upgrade},
		{"provider/pin-of-first-execution", []string{"?"}, upgrade},
		{"provider/pin-write-once", []string{"?"}, upgrade},
		{"provider/renewal-after-expiry", []string{"?"}, upgrade},
		{"provider/text-comparison", []string{"?"}, upgrade},
		{"provider/timer-visible-at-once", []string{"?"}, upgrade},
		{"provider/token-not-checked", []string{"?"}, upgrade},
		{"provider/undecodable-event-skipped", []string{"?"}, upgrade},
		{"provider/unpinned-incompatible", []string{"?"}, upgrade},
	}
}

func expected(id bugs.ID) (expectation, bool) {
	for _, e := range expectations() {
		if e.id == id {
			return e, true
		}
	}
	return expectation{}, false
}
