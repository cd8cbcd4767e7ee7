package faults

import (
	"slices"
	"time"
)

// Rate is how often a fault happens while its window is open: Num times out of Den opportunities. Rates are ratios,
// never floats. From and To are virtual times since the start of the run. A zero To means "until the fault phase ends".
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
func Light() Plan { return usual(func(i *Info) uint64 { return i.Light }) }

// Full returns a plan with every fault that can be drawn at random, damage last.
func Full() Plan {
	p := usual(func(i *Info) uint64 { return i.Full })
	slices.SortStableFunc(p.Rates, func(a, b Rate) int { return damage(a.Kind) - damage(b.Kind) })
	return p
}

// Timing returns the light plan, plus wrong clocks and calls that are delayed inside the store.
func Timing() Plan {
	p := usual(func(i *Info) uint64 { return i.timing })
	p.Rates = append(p.Rates, Light().Rates...)
	return p
}

// usual returns a plan with the kinds that have a rate in a column of the table.
func usual(column func(i *Info) uint64) (p Plan) {
	for i := range kinds {
		if den := column(&kinds[i]); den > 0 {
			p.Rates = append(p.Rates, Rate{Kind: kinds[i].Kind, Num: 1, Den: den})
		}
	}
	return p
}

func damage(kind Kind) int {
	if kind.row().damages {
		return 1
	}
	return 0
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
	return slices.ContainsFunc(p.Rates, func(r Rate) bool { return r.Kind == kind && r.Num > 0 })
}
