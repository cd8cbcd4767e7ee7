package faults

import (
	"time"

	"github.com/durosim/durosim/faults/faultkind"
)

// Kind is the name of something that can go wrong, spelled as in scenarios: "answer-lost". Kinds lists them all.
type Kind = faultkind.Kind

// Info describes a kind of fault in listings.
type Info struct {
	Kind    Kind
	Summary string
	// Suspends lists the properties that cannot be required while the fault is on.
	Suspends []string
}

// Kinds returns all kinds of faults in a fixed order.
func Kinds() []Info {
	return []Info{
		{faultkind.CrashAfterFetch, "a node crashes after it has fetched work", nil},
		{faultkind.CrashBeforeAck, "a node crashes between a turn and its ack", nil},
		{faultkind.CrashAfterCommit, "a node crashes after its ack is committed, before the answer arrives", nil},
		{faultkind.PauseNode, "a node freezes past the expiry of its locks", []string{"S19"}},
		{faultkind.RequestLost, "a call is lost on its way to the store", nil},
		{faultkind.AnswerLost, "a call takes effect, and its answer is lost", nil},
		{faultkind.CallDelayed, "a request or an answer is late, possibly beyond the call deadline", nil},
		{faultkind.RetryableError, "the store refuses a call as busy", nil},
		{faultkind.PermanentError, "the store refuses a call permanently", nil},
		{faultkind.AckStepError, "an ack fails before one of its steps", nil},
		{faultkind.Unavailable, "the store refuses every call for a while", nil},
		{faultkind.DuplicateRequest, "a client sends a message twice", nil},
		{faultkind.DuplicateCompletion, "an activity's completion is delivered a second time", nil},
		{faultkind.LateActivity, "an activity runs past the end of its lock", nil},
		{faultkind.ActivityPanic, "an activity panics", nil},
		{faultkind.CorruptEvent, "a stored event is damaged", []string{"L02"}},
		{faultkind.CorruptMessage, "a queued message is damaged", []string{"L02"}},
		{faultkind.LostRenewal, "the renewal of a lock is lost", []string{"S19"}},
		{faultkind.SlowTurn, "a turn takes as long as its lock or longer", nil},
		{faultkind.ClockSkew, "a node starts with a clock that is up to 500ms ahead or behind", nil},
		{faultkind.SlowFetch, "a fetch waits inside the store before it takes a lock, sometimes for longer than a lock lasts", nil},
		{faultkind.SlowCommit, "an ack, abandon or renewal waits inside the store before it takes effect", []string{"S19"}},
		{faultkind.SlowAnswer, "an ack waits inside the store after it has taken effect", nil},
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
		{Kind: faultkind.CrashAfterFetch, Num: 1, Den: 400},
		{Kind: faultkind.CrashBeforeAck, Num: 1, Den: 400},
		{Kind: faultkind.CrashAfterCommit, Num: 1, Den: 400},
		{Kind: faultkind.RequestLost, Num: 1, Den: 200},
		{Kind: faultkind.AnswerLost, Num: 1, Den: 200},
		{Kind: faultkind.CallDelayed, Num: 1, Den: 100},
		{Kind: faultkind.RetryableError, Num: 1, Den: 200},
		{Kind: faultkind.DuplicateRequest, Num: 1, Den: 50},
		{Kind: faultkind.SlowTurn, Num: 1, Den: 200},
	}}
}

// Full returns a plan with every fault that can be drawn at random.
func Full() Plan {
	return Plan{Rates: []Rate{
		{Kind: faultkind.CrashAfterFetch, Num: 1, Den: 150},
		{Kind: faultkind.CrashBeforeAck, Num: 1, Den: 150},
		{Kind: faultkind.CrashAfterCommit, Num: 1, Den: 150},
		{Kind: faultkind.PauseNode, Num: 1, Den: 300},
		{Kind: faultkind.RequestLost, Num: 1, Den: 60},
		{Kind: faultkind.AnswerLost, Num: 1, Den: 60},
		{Kind: faultkind.CallDelayed, Num: 1, Den: 40},
		{Kind: faultkind.RetryableError, Num: 1, Den: 60},
		{Kind: faultkind.PermanentError, Num: 1, Den: 400},
		{Kind: faultkind.AckStepError, Num: 1, Den: 100},
		{Kind: faultkind.Unavailable, Num: 1, Den: 2000},
		{Kind: faultkind.DuplicateRequest, Num: 1, Den: 15},
		{Kind: faultkind.DuplicateCompletion, Num: 1, Den: 40},
		{Kind: faultkind.LateActivity, Num: 1, Den: 60},
		{Kind: faultkind.ActivityPanic, Num: 1, Den: 60},
		{Kind: faultkind.LostRenewal, Num: 1, Den: 10},
		{Kind: faultkind.SlowTurn, Num: 1, Den: 60},
		{Kind: faultkind.CorruptEvent, Num: 1, Den: 1500},
		{Kind: faultkind.CorruptMessage, Num: 1, Den: 1500},
	}}
}

// Timing returns the light plan, plus wrong clocks and calls that are delayed inside the store.
func Timing() Plan {
	return Plan{Rates: append([]Rate{
		{Kind: faultkind.ClockSkew, Num: 1, Den: 2},
		{Kind: faultkind.SlowFetch, Num: 1, Den: 40},
		{Kind: faultkind.SlowCommit, Num: 1, Den: 40},
		{Kind: faultkind.SlowAnswer, Num: 1, Den: 40},
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
