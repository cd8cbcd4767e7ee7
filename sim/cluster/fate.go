package cluster

import "github.com/durosim/durosim/sim/plan"

// Fate describes how an instance of the plan ended.
type Fate struct {
	Instance string
	// Expect is the ending that the plan expects; empty is the default, completed.
	Expect plan.End
	End    Ending
	// Cause says in a few words why the instance ended so, or what it waits for. It names no time and no instance, so
	// that fates of many runs can be counted by cause. It is empty for a completed instance.
	Cause string
	// AsExpected is set if the plan expects this ending.
	AsExpected bool
	// Owes describes what calm or relief did for the instance: raised an event, cancelled it, widened nodes. It is
	// empty if they did nothing.
	Owes string
	// Relieved means that the instance ended only because relief widened nodes: until then no live node admitted it.
	Relieved bool
	// EndedMs is when the instance ended, in milliseconds since the start of the run; 0 if it has not. Node, running
	// Build, made the ack that ended it, and Step is the schedule step that gave the node this build. They are empty if
	// they do not apply.
	EndedMs           int64
	Node, Build, Step string
}

// Ending is how an instance ended, or its state if it has not ended.
type Ending string

// The endings.
const (
	EndedCompleted Ending = "completed"
	EndedFailed    Ending = "failed"    // because of its code, an activity, a child, a limit or a panic
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

// FateTeller is a Monitor that knows how the work ended. It is called after Finish, and its answers become part of the
// Result.
type FateTeller interface {
	Fates() []Fate
	Waits() []Wait
}

// Why returns what an instance waits for now: the rule that applies, in words. It returns nil if the instance is
// unknown.
func (w *World) Why(instance string) *Explanation {
	x, err := (&explainer{w.base}).explain(instance, 0)
	if err != nil {
		return nil
	}
	return x
}
