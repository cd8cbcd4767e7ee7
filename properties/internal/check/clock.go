package check

import (
	"slices"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// MaxSkew limits how far clocks may differ. If the store uses its callers' clocks, the properties that compare
// different callers' times hold only up to this difference.
const MaxSkew = time.Second

// timed lists the properties that compare different callers' times. They compare the end of one caller's lock with the
// time of another's fetch, or have a bound that involves the times of several callers.
var timed = []string{"S19", "S22", "L01", "L02", "L03", "L04", "L05", "L08", "L09", "L10", "L11", "L12", "L13", "S27"}

// Timed reports whether a property compares different callers' times.
func Timed(id string) bool { return slices.Contains(timed, id) }

// Judges reports whether a property can be judged under a plan's clocks. S22 has a bound of a tenth of a second, which
// is less than any relevant clock difference, so it is judged only if all clocks agree.
func Judges(p *plan.Plan, id string) bool {
	if id == "S22" {
		return p.Skew() == 0
	}
	return p.Skew() <= MaxSkew || !Timed(id)
}

// SkewMs returns how much the times in different callers' calls can differ, in milliseconds. It is 0 if the store has
// its own clock.
func (m *Run) SkewMs() int64 {
	if !m.skewKnown {
		m.skewMs, m.skewKnown = m.World.Plan().Skew().Milliseconds(), true
	}
	return m.skewMs
}

// AheadMs returns how far the time in a node's calls is ahead of true time, in milliseconds. It is 0 if the store has
// its own clock.
func (m *Run) AheadMs(node uint32) int64 {
	if node == 0 || int(node) > len(m.World.Nodes()) || !m.World.Plan().Store.CallersClock {
		return 0
	}
	since := time.Duration(m.World.NowMs()-m.World.StartMs()) * time.Millisecond
	return m.World.Node(node).Clock.Ahead(since).Milliseconds()
}
