package faults

import "time"

// Kind names a kind of fault.
type Kind string

// The faults that a plan can name. A fault occurs either at random, with a certain rate per opportunity, or because the
// plan schedules it.
const (
	// CrashBeforeAck crashes a node after it has computed a turn but before it sends the turn's ack.
	CrashBeforeAck Kind = "crash-before-ack"
	// CrashAfterCommit crashes a node after its ack has been committed but before the ack's answer arrives.
	CrashAfterCommit Kind = "crash-after-commit"
	// CrashAfterFetch crashes a node after it has received work but before it processes it.
	CrashAfterFetch Kind = "crash-after-fetch"
	// PauseNode freezes a node long enough that one of its locks may expire.
	PauseNode Kind = "pause"
	// RequestLost loses a call on its way to the store, so it has no effect.
	RequestLost Kind = "request-lost"
	// AnswerLost loses an answer. The call has taken effect, but the caller never learns of it.
	AnswerLost Kind = "answer-lost"
	// CallDelayed delays one leg of a call, possibly beyond the deadline.
	CallDelayed Kind = "call-delayed"
	// RetryableError makes the store reject a call as busy.
	RetryableError Kind = "retryable-error"
	// PermanentError makes the store reject a call permanently.
	PermanentError Kind = "permanent-error"
	// AckStepError makes an ack fail before one of its steps.
	AckStepError Kind = "ack-step-error"
	// Unavailable makes the store reject every call during an outage.
	Unavailable Kind = "unavailable"
	// DuplicateRequest makes a client send a message twice.
	DuplicateRequest Kind = "duplicate-request"
	// DuplicateCompletion delivers an activity's completion a second time, as a transport with at-least-once delivery
	// may.
	DuplicateCompletion Kind = "duplicate-completion"
	// LateActivity lets an activity run past the expiry of its lock.
	LateActivity Kind = "late-activity"
	// ActivityPanic makes an activity panic.
	ActivityPanic Kind = "activity-panic"
	// CorruptEvent damages a stored event.
	CorruptEvent Kind = "corrupt-event"
	// CorruptMessage damages a queued message.
	CorruptMessage Kind = "corrupt-message"
	// LostRenewal loses a lock renewal.
	LostRenewal Kind = "lost-renewal"
	// SlowTurn makes a turn take as long as its lock's timeout, or slightly longer.
	SlowTurn Kind = "slow-turn"
	// ClockSkew makes a node's clock wrong by up to MaxSkew from the moment the node starts.
	ClockSkew Kind = "clock-skew"
	// SlowFetch delays a fetch inside the store, before it takes a lock, while the caller waits.
	SlowFetch Kind = "slow-fetch"
	// SlowCommit delays an ack, abandon or renewal inside the store, before it takes effect.
	SlowCommit Kind = "slow-commit"
	// SlowAnswer delays an ack's answer inside the store, after the ack has taken effect.
	SlowAnswer Kind = "slow-answer"
)

// MaxSkew is the maximum amount by which ClockSkew sets a clock ahead or back. It is a whole number of milliseconds.
const MaxSkew = 500 * time.Millisecond
