package cluster

import (
	"slices"

	"github.com/durosim/durosim/sim/plan"
)

// result returns the result of the run.
func (w *World) result() *Result {
	r := &Result{
		Seed: w.cfg.Seed, Steps: w.kernel.Steps(), Turns: w.fleet.turns, Calls: uint64(w.network.calls.n),
		Virtual: w.nowMs() - w.startMs(), Exhausted: w.kernel.Exhausted(), Early: !w.finished, Marks: w.marks,
	}
	for _, n := range w.fleet.list {
		if n.machine != nil {
			n.counters.Add(n.machine.Counters())
		}
		r.Counters.Add(n.counters)
	}
	r.FinalStates, r.Help = w.FinalStates(), w.help
	r.Violations = w.internal
	if w.monitor != nil {
		r.Violations = append(r.Violations, w.monitor.Violations()...)
		code, own := slices.IndexFunc(r.Violations, Violation.BlamesCode), slices.IndexFunc(r.Violations, Violation.BlamesDurosim)
		if own >= 0 && code > own && !w.plan.Planted() { // a planted bug is durosim's own mistake
			v := r.Violations[code]
			r.Violations = slices.Insert(slices.Delete(r.Violations, code, code+1), own, v)
		}
		r.Coverage = w.monitor.Coverage()
		if t, ok := w.monitor.(FateTeller); ok {
			r.Fates, r.Waits = t.Fates(), t.Waits()
		}
	}
	r.Digest = w.trace.Digest()
	return r
}

// Counters returns the counters of a node's current incarnation, or false if the node is down.
func (w *World) Counters(node uint32) (Counters, bool) {
	if n := w.fleet.list[node-1]; n.machine != nil {
		return n.machine.Counters(), true
	}
	return Counters{}, false
}

// FinalStates returns the current states of the plan's instances followed by those of its preloaded histories, each in
// the plan's order. The caller owns the slice.
func (w *World) FinalStates() []FinalState {
	var all []FinalState
	for i := range w.plan.Instances {
		all = append(all, w.finalState(w.plan.Instances[i].ID))
	}
	for i := range w.plan.Histories {
		all = append(all, w.finalState(w.plan.Histories[i].Instance))
	}
	return all
}

func (w *World) finalState(instance string) FinalState {
	o := FinalState{Instance: instance}
	if p, ok := w.store.Peek(instance); ok {
		o.Status, o.Execution, o.Pin = p.Status, p.Execution, p.Pin
		if p.Output != nil {
			o.Output = *p.Output
		}
	}
	return o
}

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
	x, err := (&explainer{w}).explain(instance, 0)
	if err != nil {
		return nil
	}
	return x
}
