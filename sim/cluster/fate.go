package cluster

import "github.com/durosim/durosim/sim/plan"

// Fate tells what became of an instance of the plan.
type Fate struct {
	Instance string
	// Expect is the ending that the plan expects; empty is the default, completed.
	Expect plan.End
	End    Ending
	// Cause tells in a few words why it ended so, or what it waits for. It names no time and no instance, so that fates of
	// many runs can be counted by it. It is empty for a completed instance.
	Cause string
	// AsExpected is set if the plan expects this ending.
	AsExpected bool
	// Owes describes what calm or relief did for it or to it, empty if nothing: events that nobody else sent, a cancel,
	// nodes that were widened.
	Owes string
	// Relieved means that it ended only since relief widened nodes, which the plan does not: no live node admitted it.
	Relieved bool
	// EndedMs is when it ended, in milliseconds since the start of the run; 0 if it has not. Node and Build made the ack
	// that ended it, and Step is the schedule step that put the node in that state. They are empty if there is none.
	EndedMs           int64
	Node, Build, Step string
}

// Ending is the way in which a piece of work ended, or the state of work that has not ended.
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

// Wait is a period in which visible work of an instance waited because no live node admitted its pin.
type Wait struct {
	Instance string
	Pin      string
	FromMs   int64 // since the start of the run
	ForMs    int64
	// After is the schedule step before it, empty if there was none; Open is set if the run ended first.
	After string
	Open  bool
}

// FateTeller is a Monitor that knows what became of the work. It is called after Finish, and its answers become part of
// the Result.
type FateTeller interface {
	Fates() []Fate
	Waits() []Wait
}

// Why returns what an instance waits for now: the one rule, in words. It returns nil if nothing is known of the instance.
func (w *World) Why(instance string) *Explanation {
	x, err := (&explainer{w.base}).explain(instance, 0)
	if err != nil {
		return nil
	}
	return x
}
