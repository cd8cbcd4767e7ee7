package cluster

import "github.com/durosim/durosim/sim/plan"

// Fate describes how one of the plan's instances ended.
type Fate struct {
	Instance string
	// Expect is the ending that the plan expects. Empty means the default, completed.
	Expect plan.End
	End    Ending
	// Cause briefly says why the instance ended as it did, or what it is waiting for. It mentions no times or
	// instances, so that fates can be counted by cause across many runs. It is empty for a completed instance.
	Cause string
	// AsExpected reports whether the plan expects this ending.
	AsExpected bool
	// Owes describes what calm or relief did for the instance: raised an event, cancelled it, widened nodes. It is
	// empty if they did nothing.
	Owes string
	// Relieved means that the instance could end only because relief widened nodes. Until then no live node admitted
	// it.
	Relieved bool
	// EndedMs is when the instance ended, in milliseconds since the start of the run, or 0 if it has not ended. The
	// other fields describe the ack that ended it: Node is the node that made it, Build is the build the node was
	// running, and Step is the schedule step that put this build on the node. Each is empty if it does not apply.
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
	EndedPoisoned  Ending = "poisoned"  // the instance or its activity was delivered too often
	EndedDeleted   Ending = "deleted"
	StillRunning   Ending = "running"
	NeverBegun     Ending = "never begun"
)

// Wait is a period in which an instance's visible work waited because no live node admitted its pin.
type Wait struct {
	Instance string
	Pin      string
	FromMs   int64 // since the start of the run
	ForMs    int64
	// After is the schedule step that preceded the wait, or empty. Open is set if the wait lasted until the end of the
	// run.
	After string
	Open  bool
}

// FateTeller is a Monitor that knows how work ended. Its methods are called after Finish, and their results become part
// of the Result.
type FateTeller interface {
	Fates() []Fate
	Waits() []Wait
}

// Why returns what an instance is waiting for now: the rule that applies, in words. It returns nil if the instance is
// unknown.
func (w *World) Why(instance string) *Explanation {
	x, err := (&explainer{w.base}).explain(instance, 0)
	if err != nil {
		return nil
	}
	return x
}
