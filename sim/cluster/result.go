package cluster

import "slices"

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
	r.FinalStates, r.Help = w.FinalStates(), w.phases.help
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
