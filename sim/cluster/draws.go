package cluster

import (
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
)

// The labels of keys: a draw is named by its place in the domain.
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
	labelKill        = sim.NewLabel("kill")
)

// tryKey returns the key for the draws of try n, counted from 1; the first try uses the given key itself.
func tryKey(key sim.Key, n uint32) sim.Key {
	if n > 1 {
		key = key.Num(labelTry, uint64(n))
	}
	return key
}

// draws reports whether a fault happens at this opportunity. Faults happen in turbulence only.
func (b *base) draws(kind faults.Kind, nodeName string, key sim.Key) bool {
	if b.phase != PhaseTurbulence {
		return false
	}
	f := b.drawn.of(kind)
	if f == nil {
		return false
	}
	num, den := f.num, f.den
	if den == 0 {
		num, den = f.plan.Rate(kind, nodeName, b.since())
	}
	return num > 0 && sim.Chance(b.chooser, key.Text(labelFault, f.text), num, den)
}

// drawnFault is a kind of fault of the plan: its rates alone, and the last segment of the keys of its draws.
type drawnFault struct {
	kind faults.Kind
	text sim.Text
	plan faults.Plan
	// num in den is the rate if it is the same for all nodes and times; else den is 0.
	num, den uint64
}

// drawnFaults returns the kinds of faults that a plan names, each with its rates.
func drawnFaults(p *faults.Plan) *drawnTable {
	drawn := &drawnTable{}
	for _, r := range p.Rates {
		f := drawn.of(r.Kind)
		if f == nil {
			f = &drawnFault{kind: r.Kind, text: sim.NewText(string(r.Kind))}
			if r.Node == "" && r.From == 0 && r.To == 0 { // the first that applies counts
				f.num, f.den = r.Num, r.Den
			}
			drawn.add(f)
		}
		f.plan.Rates = append(f.plan.Rates, r)
	}
	return drawn
}

// drawnTable finds a kind of fault. The world asks it twenty thousand times in a run, mostly for what the plan does not name;
// a map of texts would take five times as long.
type drawnTable struct{ slots [64]*drawnFault }

// slot is where a kind is, or the next free slot after it.
func (t *drawnTable) slot(kind faults.Kind) int {
	n := len(kind)
	if n == 0 {
		return 0
	}
	i := (n*5 + int(kind[0])*3 + int(kind[n/2])) % len(t.slots)
	for t.slots[i] != nil && t.slots[i].kind != kind {
		i = (i + 1) % len(t.slots)
	}
	return i
}

func (t *drawnTable) of(kind faults.Kind) *drawnFault { return t.slots[t.slot(kind)] }

func (t *drawnTable) add(f *drawnFault) { t.slots[t.slot(f.kind)] = f }

// The weights of the classes of durations. They are never changed.
var (
	leastOrTypical = []uint32{1, 3}
	beforeOrAfter  = []uint32{1, 1}
)

// leg draws how long a leg of a call takes: the least, or a typical time.
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
