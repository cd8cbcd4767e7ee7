package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/faults"
)

// Clock describes how a node's clock differs from true time. The zero value is a correct clock.
type Clock struct {
	// Offset is how far the clock is ahead at the start of the run, or behind if negative. It is in whole milliseconds
	// and at most maxClock.
	Offset time.Duration
	// DriftPPM is how fast the clock runs, or how slow if negative, in parts per million. Like a synchronized clock, it
	// drifts at most MaxDrift from its offset.
	DriftPPM int64
}

// Bounds for clocks.
const (
	maxClock     = time.Hour
	MaxDrift     = 200 * time.Millisecond
	driftPPMMost = 10_000
)

// Ahead returns by how much the clock is ahead of true time when since has elapsed since the start of the run. The
// result is negative if the clock is behind.
func (c Clock) Ahead(since time.Duration) time.Duration {
	drift := since / 1_000_000 * time.Duration(c.DriftPPM)
	return c.Offset + max(-MaxDrift, min(drift, MaxDrift))
}

// String returns the clock as a scenario file spells it.
func (c Clock) String() string {
	text := c.Offset.String()
	if c.Offset >= 0 {
		text = "+" + text
	}
	if c.DriftPPM != 0 {
		text += fmt.Sprintf(" drift %dppm", c.DriftPPM)
	}
	return text
}

// span returns the maximum by which the clock may be behind and ahead.
func (c Clock) span() (behind, ahead time.Duration) {
	behind, ahead = -c.Offset, c.Offset
	if c.DriftPPM < 0 {
		behind += MaxDrift
	} else if c.DriftPPM > 0 {
		ahead += MaxDrift
	}
	return max(behind, 0), max(ahead, 0)
}

// StoreOptions are a plan's settings for the store.
type StoreOptions struct {
	// CallersClock makes each call happen at the time on its caller's clock. Otherwise the store has its own clock,
	// which is correct (docs/contract-decisions.md#clocks).
	CallersClock bool `shrink:"drop"`
	// Serial, if not 0, is the time the store takes to serve a fetch. Fetches are served one after another, in order of
	// arrival, while their callers wait. Other calls are not delayed.
	Serial time.Duration `shrink:"drop"`
	// Plain is set if the store reports the extensions of an item, which are its status, pin and parent, only if the
	// history cannot be decoded. Otherwise nodes take them from the history.
	Plain bool `shrink:"drop"`
}

// Skew returns the maximum difference between any two clocks used for lock times: those of the nodes, of clients and
// probes, which are correct, and of the store. It is 0 if the store has its own clock, because then only that clock is
// used.
func (p *Plan) Skew() time.Duration {
	if !p.Store.CallersClock {
		return 0
	}
	var behind, ahead time.Duration
	for i := range p.Nodes {
		n := &p.Nodes[i]
		b, a := n.Clock.span()
		if p.skewed(n.Name) {
			b, a = b+faults.MaxSkew, a+faults.MaxSkew
		}
		behind, ahead = max(behind, b), max(ahead, a)
	}
	return behind + ahead
}

func (p *Plan) skewed(node string) bool {
	return slices.ContainsFunc(p.Faults.Rates, func(r faults.Rate) bool {
		return r.Kind == faults.ClockSkew && r.Num > 0 && (r.Node == "" || r.Node == node)
	})
}

func (v *validation) clocks() {
	if s := v.plan.Store.Serial; s < 0 || s > maxSerial || s%time.Millisecond != 0 {
		v.fail("store serial %v: want whole milliseconds, at most %v", s, maxSerial)
	}
	for i := range v.plan.Nodes {
		n := &v.plan.Nodes[i]
		v.part = "node " + n.Name
		if o := n.Clock.Offset; o < -maxClock || o > maxClock || o%time.Millisecond != 0 {
			v.fail("node %s: clock %v: want whole milliseconds, at most %v ahead or behind", n.Name, o, maxClock)
		}
		if d := n.Clock.DriftPPM; d < -driftPPMMost || d > driftPPMMost {
			v.fail("node %s: drift %dppm: want at most %dppm", n.Name, d, driftPPMMost)
		}
	}
}

// maxSerial is the upper bound of StoreOptions.Serial.
const maxSerial = 10 * time.Second
