package faults

import "time"

// Kind names something that can go wrong.
type Kind string

// The faults that a plan can name. Each is either an opportunity that the world draws for (with a rate), or a thing
// that a plan schedules by hand, or both.
const (
	// CrashBeforeAck stops a node without warning after it has computed a turn and before it sends the ack.
	CrashBeforeAck Kind = "crash-before-ack"
	// CrashAfterCommit stops a node after its ack is committed and before the answer arrives.
	CrashAfterCommit Kind = "crash-after-commit"
	// CrashAfterFetch stops a node after it receives work and before it looks at it.
	CrashAfterFetch Kind = "crash-after-fetch"
	// PauseNode freezes a node for long enough that one of its locks may run out.
	PauseNode Kind = "pause"
	// RequestLost loses a call on its way to the store: nothing happens.
	RequestLost Kind = "request-lost"
	// AnswerLost loses an answer: the call took effect, but the caller never learns of it.
	AnswerLost Kind = "answer-lost"
	// CallDelayed delays one leg of a call, possibly beyond the deadline.
	CallDelayed Kind = "call-delayed"
	// RetryableError makes the store refuse a call as busy.
	RetryableError Kind = "retryable-error"
	// PermanentError makes the store refuse a call for good.
	PermanentError Kind = "permanent-error"
	// AckStepError makes an ack fail before one of its steps.
	AckStepError Kind = "ack-step-error"
	// Unavailable makes the store refuse every call for a window.
	Unavailable Kind = "unavailable"
	// DuplicateRequest makes a client send a message twice.
	DuplicateRequest Kind = "duplicate-request"
	// DuplicateCompletion delivers an activity's completion a second time, as a transport that delivers at least once may.
	DuplicateCompletion Kind = "duplicate-completion"
	// LateActivity lets an activity run past its lock's end.
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
	// ClockSkew sets the clock of a node wrong when the node starts, by SkewMost at most.
	ClockSkew Kind = "clock-skew"
	// SlowFetch lets a fetch wait inside the store before it takes a lock, while its caller waits for it.
	SlowFetch Kind = "slow-fetch"
	// SlowCommit lets an ack, an abandon or a renewal wait inside the store after it arrived and before it takes effect.
	SlowCommit Kind = "slow-commit"
	// SlowAnswer lets an ack that has taken effect wait inside the store before its answer leaves.
	SlowAnswer Kind = "slow-answer"
)

// SkewMost is the most by which ClockSkew sets a clock ahead or back. Whole milliseconds.
const SkewMost = 500 * time.Millisecond

// Info describes a kind of fault for listings.
type Info struct {
	Kind    Kind
	Summary string
	// Suspends are the properties that cannot be required while the fault is on.
	Suspends []string
}

// Kinds returns all kinds of faults, in a fixed order.
func Kinds() []Info {
	return []Info{
		{CrashAfterFetch, "a node crashes when it was handed work", nil},
		{CrashBeforeAck, "a node crashes between a turn and its ack", nil},
		{CrashAfterCommit, "a node crashes when its ack was committed, before the answer", nil},
		{PauseNode, "a node freezes past the expiry of its locks", []string{"S19"}},
		{RequestLost, "a call is lost on its way to the store", nil},
		{AnswerLost, "a call took effect and its answer is lost", nil},
		{CallDelayed, "a leg of a call is late, up to beyond the call deadline", nil},
		{RetryableError, "the store refuses a call as busy", nil},
		{PermanentError, "the store refuses a call for good", nil},
		{AckStepError, "an ack fails before one of its steps", nil},
		{Unavailable, "the store refuses every call for a while", nil},
		{DuplicateRequest, "a client sends a message twice", nil},
		{DuplicateCompletion, "an activity's completion is delivered a second time", nil},
		{LateActivity, "an activity runs past the end of its lock", nil},
		{ActivityPanic, "an activity panics", nil},
		{CorruptEvent, "a stored event is damaged", []string{"L02"}},
		{CorruptMessage, "a queued message is damaged", []string{"L02"}},
		{LostRenewal, "the renewal of a lock is lost", []string{"S19"}},
		{SlowTurn, "a turn takes as long as its lock or longer", nil},
		{ClockSkew, "a node starts with a clock that is up to 500ms ahead or behind", nil},
		{SlowFetch, "a fetch waits inside the store before it takes a lock, for longer than a lock at times", nil},
		{SlowCommit, "an ack, abandon or renewal waits inside the store before it takes effect", []string{"S19"}},
		{SlowAnswer, "an ack waits inside the store after it took effect", nil},
	}
}

// Rate is how often a fault happens: at Num in Den of its opportunities, while the window is open. Rates are
// ratios, never floats. Window bounds are virtual time since the start of the run; To 0 means "until turbulence ends".
type Rate struct {
	Kind     Kind
	Num, Den uint64
	From, To time.Duration
	// Node restricts the fault to one node, by name; empty means every node.
	Node string
}

// Plan lists the faults of a run.
type Plan struct {
	Rates []Rate
}

// None returns the plan without faults.
func None() Plan { return Plan{} }

// Light returns the fault load of the default campaign: crashes, some loss and delay, and an occasional busy store.
func Light() Plan {
	return Plan{Rates: []Rate{
		{Kind: CrashAfterFetch, Num: 1, Den: 400},
		{Kind: CrashBeforeAck, Num: 1, Den: 400},
		{Kind: CrashAfterCommit, Num: 1, Den: 400},
		{Kind: RequestLost, Num: 1, Den: 200},
		{Kind: AnswerLost, Num: 1, Den: 200},
		{Kind: CallDelayed, Num: 1, Den: 100},
		{Kind: RetryableError, Num: 1, Den: 200},
		{Kind: DuplicateRequest, Num: 1, Den: 50},
		{Kind: SlowTurn, Num: 1, Den: 200},
	}}
}

// Full returns a plan with every fault that can be drawn.
func Full() Plan {
	return Plan{Rates: []Rate{
		{Kind: CrashAfterFetch, Num: 1, Den: 150},
		{Kind: CrashBeforeAck, Num: 1, Den: 150},
		{Kind: CrashAfterCommit, Num: 1, Den: 150},
		{Kind: PauseNode, Num: 1, Den: 300},
		{Kind: RequestLost, Num: 1, Den: 60},
		{Kind: AnswerLost, Num: 1, Den: 60},
		{Kind: CallDelayed, Num: 1, Den: 40},
		{Kind: RetryableError, Num: 1, Den: 60},
		{Kind: PermanentError, Num: 1, Den: 400},
		{Kind: AckStepError, Num: 1, Den: 100},
		{Kind: Unavailable, Num: 1, Den: 2000},
		{Kind: DuplicateRequest, Num: 1, Den: 15},
		{Kind: DuplicateCompletion, Num: 1, Den: 40},
		{Kind: LateActivity, Num: 1, Den: 60},
		{Kind: ActivityPanic, Num: 1, Den: 60},
		{Kind: LostRenewal, Num: 1, Den: 10},
		{Kind: SlowTurn, Num: 1, Den: 60},
		{Kind: CorruptEvent, Num: 1, Den: 1500},
		{Kind: CorruptMessage, Num: 1, Den: 1500},
	}}
}

// Timing returns the light plan with clocks that are wrong and calls that take time inside the store.
func Timing() Plan {
	return Plan{Rates: append([]Rate{
		{Kind: ClockSkew, Num: 1, Den: 2},
		{Kind: SlowFetch, Num: 1, Den: 40},
		{Kind: SlowCommit, Num: 1, Den: 40},
		{Kind: SlowAnswer, Num: 1, Den: 40},
	}, Light().Rates...)}
}

// Rate returns the ratio of a kind for a node at a time since the start, 0 in 1 if the plan does not include it.
func (p *Plan) Rate(kind Kind, node string, at time.Duration) (num, den uint64) {
	for i := range p.Rates {
		r := &p.Rates[i]
		if r.Kind == kind && (r.Node == "" || r.Node == node) && at >= r.From && (r.To == 0 || at < r.To) {
			return r.Num, r.Den
		}
	}
	return 0, 1
}

// Has reports whether the plan may ever inject the kind.
func (p *Plan) Has(kind Kind) bool {
	for i := range p.Rates {
		if p.Rates[i].Kind == kind && p.Rates[i].Num > 0 {
			return true
		}
	}
	return false
}
