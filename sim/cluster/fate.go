package cluster

import "github.com/durosim/durosim/sim/plan"

// Fate is what became of a piece of work: of an instance of the plan.
type Fate struct {
	Instance string
	// Expect is what the plan expects; empty is the default, completed.
	Expect plan.End
	End    Ending
	// Cause says in a few words why it ended so, or what it waits for. It names no time and no instance, so that fates of
	// many runs can be counted by it. It is empty for what completed.
	Cause string
	// AsExpected says that this is what the plan expects.
	AsExpected bool
	// Owes says what calm or relief did for it or to it, empty if nothing: events that nobody else sent, a cancel, nodes
	// that were widened.
	Owes string
	// EndedMs is when it ended, in milliseconds since the start of the run; 0 if it has not. Node and Build are whose ack
	// ended it, Step the schedule step that made the node what it was then. They are empty if there is none.
	EndedMs           int64
	Node, Build, Step string
}

// Ending is how a piece of work ended, or that it did not.
type Ending string

// The endings.
const (
	EndedCompleted Ending = "completed"
	EndedFailed    Ending = "failed"    // by its own code, an activity, a child, a limit or a panic
	EndedCancelled Ending = "cancelled" // by a cancel request
	EndedPoisoned  Ending = "poisoned"  // it or its activity was delivered too often
	EndedDeleted   Ending = "deleted"
	StillRunning   Ending = "running"
	NeverBegun     Ending = "never begun"
)

// Wait is a time for which visible work of an instance waited because no live node admitted its pin.
type Wait struct {
	Instance string
	Pin      string
	FromMs   int64 // since the start of the run
	ForMs    int64
	// After is the schedule step before it, empty if there was none; Open says that the run ended first.
	After string
	Open  bool
}

// FateTeller is a Monitor that knows what became of the work. Its answers are asked for after Finish and become part of
// the Result.
type FateTeller interface {
	Fates() []Fate
	Waits() []Wait
}

// Why says what an instance waits for now: the one rule, in words. It is nil if nothing is known of the instance.
func (w *World) Why(instance string) *Explanation {
	x, err := (&explainer{w.base}).explain(instance, 0)
	if err != nil {
		return nil
	}
	return x
}
