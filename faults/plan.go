package faults

import (
	"time"
)

// Info describes a kind of fault in listings.
type Info struct {
	Kind    Kind
	Summary string
	// Suspends lists the properties that cannot be required while the fault is on.
	Suspends []string
}

// Kinds returns all kinds of faults. Stored fuzzing inputs depend on the order.
func Kinds() []Info {
	return []Info{
		{CrashAfterFetch, "a node crashes after it has fetched work", nil},
		{CrashBeforeAck, "a node crashes between a turn and its ack", nil},
		{CrashAfterCommit, "a node crashes after its ack is committed, before the answer arrives", nil},
		{PauseNode, "a node freezes past the expiry of its locks", []string{"S19"}},
		{RequestLost, "a call is lost on its way to the store", nil},
		{AnswerLost, "a call takes effect, and its answer is lost", nil},
		{CallDelayed, "a request or an answer is late, possibly beyond the call deadline", nil},
		{RetryableError, "the store refuses a call as busy", nil},
		{PermanentError, "the store refuses a call permanently", nil},
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
		{SlowFetch, "a fetch waits inside the store before it takes a lock, sometimes for longer than a lock lasts", nil},
		{SlowCommit, "an ack, abandon or renewal waits inside the store before it takes effect", []string{"S19"}},
		{SlowAnswer, "an ack waits inside the store after it has taken effect", nil},
	}
}

// Rate is how often a fault happens while its window is open: Num times out of Den opportunities. Rates are ratios,
// never floats. From and To are virtual times since the start of the run. A zero To means "until turbulence ends".
type Rate struct {
	Kind     Kind
	Num, Den uint64
	From, To time.Duration
	// Node restricts the fault to the node with this name; empty means every node.
	Node string
}

// Plan lists the faults that may occur in a run.
type Plan struct {
	Rates []Rate
}

// None returns a plan without faults.
func None() Plan { return Plan{} }

// Light returns the default campaign's faults: crashes, some loss and delay, and an occasional busy store.
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

// Full returns a plan with every fault that can be drawn at random.
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

// Timing returns the light plan, plus wrong clocks and calls that are delayed inside the store.
func Timing() Plan {
	return Plan{Rates: append([]Rate{
		{Kind: ClockSkew, Num: 1, Den: 2},
		{Kind: SlowFetch, Num: 1, Den: 40},
		{Kind: SlowCommit, Num: 1, Den: 40},
		{Kind: SlowAnswer, Num: 1, Den: 40},
	}, Light().Rates...)}
}

// Rate returns the rate, as a ratio, at which faults of the given kind happen on a node when at has elapsed since the
// start of the run. It is 0 in 1 if the plan does not include the kind.
func (p *Plan) Rate(kind Kind, node string, at time.Duration) (num, den uint64) {
	for i := range p.Rates {
		r := &p.Rates[i]
		if r.Kind == kind && (r.Node == "" || r.Node == node) && at >= r.From && (r.To == 0 || at < r.To) {
			return r.Num, r.Den
		}
	}
	return 0, 1
}

// Has reports whether the plan may ever inject the kind of fault.
func (p *Plan) Has(kind Kind) bool {
	for i := range p.Rates {
		if p.Rates[i].Kind == kind && p.Rates[i].Num > 0 {
			return true
		}
	}
	return false
}
