package cluster

import (
	"slices"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
)

// Labels for keys. A key names a draw by its place in the domain.
var (
	labelNode        = sim.NewLabel("node")
	labelIncarnation = sim.NewLabel("incarnation")
	labelCall        = sim.NewLabel("call")
	labelRequest     = sim.NewLabel("request")
	labelAnswer      = sim.NewLabel("answer")
	labelAmount      = sim.NewLabel("amount")
	labelFault       = sim.NewLabel("fault")
	labelJob         = sim.NewLabel("job")
	labelTimer       = sim.NewLabel("timer")
	labelStart       = sim.NewLabel("start")
	labelSchedule    = sim.NewLabel("schedule")
	labelInstance    = sim.NewLabel("instance")
	labelAction      = sim.NewLabel("action")
	labelRetry       = sim.NewLabel("retry")
	labelTry         = sim.NewLabel("try")
	labelProbe       = sim.NewLabel("probe")
	labelWake        = sim.NewLabel("wake")
	labelGroup       = sim.NewLabel("group")
	labelPhase       = sim.NewLabel("phase")
	labelTick        = sim.NewLabel("tick")
	labelUntil       = sim.NewLabel("until")
	labelZombie      = sim.NewLabel("zombie")
	labelHistory     = sim.NewLabel("history")
	labelPause       = sim.NewLabel("pause")
	labelSlept       = sim.NewLabel("slept")
	labelKill        = sim.NewLabel("kill")
)

// tryKey returns the key for the draws of attempt n, counting from 1. The first attempt uses the given key itself.
func tryKey(key sim.Key, n uint32) sim.Key {
	if n > 1 {
		key = key.Num(labelTry, uint64(n))
	}
	return key
}

// draws reports whether a fault happens at this opportunity. Faults happen only during the fault phase. If the rate is
// 0, the chooser is not asked, so that disabling a fault leaves all other draws unchanged.
func (b *base) draws(kind drawnKind, nodeName string, key sim.Key) bool {
	return b.drawn[kind].included && b.phase == PhaseFaults && b.happens(kind, nodeName, key)
}

func (b *base) happens(kind drawnKind, nodeName string, key sim.Key) bool {
	f := &b.drawn[kind]
	num, den := f.num, f.den
	if den == 0 {
		num, den = f.plan.Rate(kind.kind(), nodeName, b.since())
	}
	return num > 0 && sim.ChanceOf(b.chooser, key, &f.segment, num, den)
}

// drawnKind is a kind of fault that is drawn at random, by its place in faults.Kinds. It is a number for speed: a run
// has twenty thousand opportunities, most of them for faults that its plan does not include. Each is a variable of the
// file where the fault strikes.
type drawnKind int

var faultKinds = faults.Kinds()

func drawnKindOf(kind faults.Kind) drawnKind {
	return drawnKind(slices.IndexFunc(faultKinds, func(i faults.Info) bool { return i.Kind == kind }))
}

func (k drawnKind) kind() faults.Kind { return faultKinds[k].Kind }

// drawnFault is a kind of fault: whether a plan includes it, its rates, and the last segment of its draws' keys.
type drawnFault struct {
	included bool
	segment  sim.Segment
	// num in den is the rate if it is the same for all nodes at all times. Otherwise den is 0 and the rates are in
	// plan.
	num, den uint64
	plan     faults.Plan
}

// drawnTable has all kinds of faults, indexed by drawnKind.
type drawnTable []drawnFault

func drawnFaults(p *faults.Plan) drawnTable {
	t := make(drawnTable, len(faultKinds))
	for _, r := range p.Rates {
		f := &t[drawnKindOf(r.Kind)]
		if !f.included {
			f.included, f.segment = true, sim.NewSegment(labelFault, string(r.Kind))
			if r.Node == "" && r.From == 0 && r.To == 0 { // the first rate that applies counts
				f.num, f.den = r.Num, r.Den
			}
		}
		if f.den == 0 {
			f.plan.Rates = append(f.plan.Rates, r)
		}
	}
	return t
}

// Weights of the classes of durations. They never change.
var (
	leastOrTypical = []uint32{1, 3}
	beforeOrAfter  = []uint32{1, 1}
)

// leg draws how long one leg of a call takes: the minimum, or a typical time.
func (b *base) leg(key sim.Key) time.Duration {
	const least = 200 * time.Microsecond
	if sim.Pick(b.chooser, key, leastOrTypical) == 0 {
		return least
	}
	return sim.Between(b.chooser, key.At(labelAmount), least, 3*time.Millisecond)
}

// around draws a time just before or just after an expiry.
func (b *base) around(key sim.Key, expiry time.Duration) time.Duration {
	const margin = 20 * time.Millisecond
	if sim.Pick(b.chooser, key, beforeOrAfter) == 0 {
		return sim.Between(b.chooser, key.At(labelAmount), max(expiry-margin, 0), expiry)
	}
	return sim.Between(b.chooser, key.At(labelAmount), expiry, expiry+margin)
}
