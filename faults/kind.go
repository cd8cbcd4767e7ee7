package faults

import (
	"slices"
	"time"
)

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
	// ActivityRepeats makes an activity's code run again: between the code and the ack its node crashes, or the store
	// refuses the ack.
	ActivityRepeats Kind = "activity-repeats"
	// ExecutionForgotten makes a node forget an execution that it keeps between turns (node.Options.KeptExecutions). The
	// next turn replays the history.
	ExecutionForgotten Kind = "execution-forgotten"
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

// Info is a row of the table of faults.
type Info struct {
	Kind    Kind
	Summary string
	// Suspends lists the properties that cannot be required of what the fault hits. What calls that fail and crashes suspend
	// is in the table of package properties.
	Suspends []string

	// Light and Full are the rates in these plans, as one in so many opportunities; 0 means that the plan leaves the fault
	// out.
	Light, Full uint64

	// timing is the rate in the plan Timing.
	timing uint64
	// damages marks faults that damage what is stored.
	damages bool
}

// Rare reports whether random plans should have the fault much more rarely than others.
func (k Kind) Rare() bool { return k.row().Full >= 1000 }

// row returns the kind's row, or an empty one for an unknown kind.
func (k Kind) row() (row Info) {
	if i := slices.IndexFunc(kinds, func(i Info) bool { return i.Kind == k }); i >= 0 {
		row = kinds[i]
	}
	return row
}

// Kinds returns all kinds of faults. The caller owns the slice.
func Kinds() []Info { return slices.Clone(kinds) }

// kinds never changes. Stored fuzzing inputs depend on its order.
var kinds = []Info{
	{Kind: CrashAfterFetch, Summary: "a node crashes after it has fetched work", Light: 400, Full: 150},
	{Kind: CrashBeforeAck, Summary: "a node crashes between a turn and its ack", Light: 400, Full: 150},
	{Kind: CrashAfterCommit, Summary: "a node crashes after its ack is committed, before the answer arrives", Light: 400, Full: 150},
	{Kind: PauseNode, Summary: "a node freezes past the expiry of its locks", Suspends: []string{"S19", "S22", "L12"}, Full: 300},
	{Kind: RequestLost, Summary: "a call is lost on its way to the store", Light: 200, Full: 60},
	{Kind: AnswerLost, Summary: "a call takes effect, and its answer is lost", Light: 200, Full: 60},
	{Kind: CallDelayed, Summary: "a request or an answer is late, possibly beyond the call deadline", Light: 100, Full: 40},
	{Kind: RetryableError, Summary: "the store refuses a call as busy", Light: 200, Full: 60},
	{Kind: PermanentError, Summary: "the store refuses a call permanently", Full: 400},
	{Kind: AckStepError, Summary: "an ack fails before one of its steps", Full: 100},
	{Kind: Unavailable, Summary: "the store refuses every call for a while", Full: 2000},
	{Kind: DuplicateRequest, Summary: "a client sends a message twice", Light: 50, Full: 15},
	{Kind: DuplicateCompletion, Summary: "an activity's completion is delivered a second time", Full: 40},
	{Kind: LateActivity, Summary: "an activity runs past the end of its lock", Full: 60},
	{Kind: ActivityPanic, Summary: "an activity panics", Full: 60},
	{Kind: CorruptEvent, Summary: "a stored event is damaged", Suspends: []string{"S07", "S11", "S29", "L02"}, Full: 1500, damages: true},
	{Kind: CorruptMessage, Summary: "a queued message is damaged", Suspends: []string{"L02", "L06", "L10"}, Full: 1500, damages: true},
	{Kind: LostRenewal, Summary: "the renewal of a lock is lost", Suspends: []string{"S19"}, Full: 10},
	{Kind: SlowTurn, Summary: "a turn takes as long as its lock or longer", Light: 200, Full: 60},
	{Kind: ClockSkew, Summary: "a node starts with a clock that is up to 500ms ahead or behind", Suspends: []string{"S27"}, timing: 2},
	{Kind: SlowFetch, Summary: "a fetch waits inside the store before it takes a lock, sometimes for longer than a lock lasts", timing: 40},
	{Kind: SlowCommit, Summary: "an ack, abandon or renewal waits inside the store before it takes effect", Suspends: []string{"S19"}, timing: 40},
	{Kind: SlowAnswer, Summary: "an ack waits inside the store after it has taken effect", timing: 40},
	{Kind: ActivityRepeats, Summary: "an activity's code runs, a crash or the store keeps its ack from taking effect, and the code runs again", Light: 10, Full: 8},
	{Kind: ExecutionForgotten, Summary: "a node that keeps executions between turns forgets one", Light: 20, Full: 8},
}
