package cluster

import (
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
)

// tryKey names the draws of a try of something, counted from 1; those of the first have the key of the thing itself.
func tryKey(key sim.Key, n uint32) sim.Key {
	if n > 1 {
		key = key.Num(labelTry, uint64(n))
	}
	return key
}

// draws tells whether a fault happens at this opportunity. Faults happen in turbulence only.
func (w *World) draws(kind faults.Kind, nodeName string, key sim.Key) bool {
	if w.phase != PhaseTurbulence {
		return false
	}
	for i := range w.drawn {
		if f := &w.drawn[i]; f.kind == kind {
			num, den := f.plan.Rate(kind, nodeName, w.since())
			return num > 0 && sim.Chance(w.chooser, key.Text(labelFault, f.text), num, den)
		}
	}
	return false
}

// drawnFault is a kind of fault of the plan: its rates alone, and the last segment of the keys of its draws.
type drawnFault struct {
	kind faults.Kind
	text sim.Text
	plan faults.Plan
}

// drawnFaults are the kinds that a plan names.
func drawnFaults(p *faults.Plan) []drawnFault {
	var list []drawnFault
	for _, r := range p.Rates {
		i := 0
		for i < len(list) && list[i].kind != r.Kind {
			i++
		}
		if i == len(list) {
			list = append(list, drawnFault{kind: r.Kind, text: sim.NewText(string(r.Kind))})
		}
		list[i].plan.Rates = append(list[i].plan.Rates, r)
	}
	return list
}

// The weights of the classes of durations. They are never changed.
var (
	leastOrTypical = []uint32{1, 3}
	beforeOrAfter  = []uint32{1, 1}
)

// leg draws how long a leg of a call takes: the least, or a typical time.
func (w *World) leg(key sim.Key) time.Duration {
	const least = 200 * time.Microsecond
	if sim.Pick(w.chooser, key, leastOrTypical) == 0 {
		return least
	}
	return sim.Between(w.chooser, key.At(labelAmount), least, 3*time.Millisecond)
}

// around draws a time just before or just after an expiry.
func (w *World) around(key sim.Key, expiry time.Duration) time.Duration {
	const margin = 20 * time.Millisecond
	if sim.Pick(w.chooser, key, beforeOrAfter) == 0 {
		return sim.Between(w.chooser, key.At(labelAmount), max(expiry-margin, 0), expiry)
	}
	return sim.Between(w.chooser, key.At(labelAmount), expiry, expiry+margin)
}
