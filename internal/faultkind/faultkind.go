package faultkind

import "time"

// Kind names something that can go wrong.
type Kind string

// The faults that a plan can name. The world draws a fault at each opportunity with a given rate, or the plan schedules
// it, or both.
const (
	// CrashBeforeAck stops a node without warning after it has computed a turn and before it sends the ack.
	CrashBeforeAck Kind = "crash-before-ack"
	// CrashAfterCommit stops a node after its ack is committed and before the answer arrives.
	CrashAfterCommit Kind = "crash-after-commit"
	// CrashAfterFetch stops a node after it receives work and before it processes it.
	CrashAfterFetch Kind = "crash-after-fetch"
	// PauseNode freezes a node, long enough that one of its locks may expire.
	PauseNode Kind = "pause"
	// RequestLost loses a call on its way to the store: nothing happens.
	RequestLost Kind = "request-lost"
	// AnswerLost loses an answer: the call took effect, but the caller never learns of it.
	AnswerLost Kind = "answer-lost"
	// CallDelayed delays one leg of a call, possibly beyond the deadline.
	CallDelayed Kind = "call-delayed"
	// RetryableError makes the store refuse a call as busy.
	RetryableError Kind = "retryable-error"
	// PermanentError makes the store refuse a call permanently.
	PermanentError Kind = "permanent-error"
	// AckStepError makes an ack fail before one of its steps.
	AckStepError Kind = "ack-step-error"
	// Unavailable makes the store refuse every call for a window.
	Unavailable Kind = "unavailable"
	// DuplicateRequest makes a client send a message twice.
	DuplicateRequest Kind = "duplicate-request"
	// DuplicateCompletion delivers an activity's completion a second time, as a transport that delivers at least once may.
	DuplicateCompletion Kind = "duplicate-completion"
	// LateActivity lets an activity run past the end of its lock.
	LateActivity Kind = "late-activity"
	// ActivityPanic makes an activity panic.
	ActivityPanic Kind = "activity-panic"
	// CorruptEvent damages a stored event.
	CorruptEvent Kind = "corrupt-event"
	// CorruptMessage damages a queued message.
	CorruptMessage Kind = "corrupt-message"
	// LostRenewal loses the renewal of a lock.
	LostRenewal Kind = "lost-renewal"
	// SlowTurn lets a turn take as long as its lock, or a little longer.
	SlowTurn Kind = "slow-turn"
	// ClockSkew sets a node's clock wrong when the node starts, by at most SkewMost.
	ClockSkew Kind = "clock-skew"
	// SlowFetch lets a fetch wait inside the store before it takes a lock, while its caller waits for it.
	SlowFetch Kind = "slow-fetch"
	// SlowCommit lets an ack, an abandon or a renewal wait inside the store after it arrived and before it takes effect.
	SlowCommit Kind = "slow-commit"
	// SlowAnswer lets an ack that has taken effect wait inside the store before its answer leaves.
	SlowAnswer Kind = "slow-answer"
)

// SkewMost is the limit by which ClockSkew sets a clock ahead or back, in whole milliseconds.
const SkewMost = 500 * time.Millisecond

// All returns every kind. Stored fuzzing inputs depend on their order.
func All() []Kind {
	return []Kind{
		CrashAfterFetch, CrashBeforeAck, CrashAfterCommit, PauseNode, RequestLost,
		AnswerLost, CallDelayed, RetryableError, PermanentError, AckStepError,
		Unavailable, DuplicateRequest, DuplicateCompletion, LateActivity, ActivityPanic,
		CorruptEvent, CorruptMessage, LostRenewal, SlowTurn, ClockSkew,
		SlowFetch, SlowCommit, SlowAnswer,
	}
}
