package check

import (
	"slices"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// SkewMost is the largest difference between two clocks for which the properties that compare times of different
// callers hold, if the store uses the clocks of its callers.
const SkewMost = time.Second

// timed lists the properties that compare times of different callers: the end of one caller's lock with the time of
// another's fetch, or a bound with times of several callers.
var timed = []string{"S19", "S22", "L01", "L02", "L03", "L04", "L05", "L08", "L09", "L10", "L11", "L12", "L13", "S27"}

// Timed reports whether a property compares times of different callers.
func Timed(id string) bool { return slices.Contains(timed, id) }

// Judges reports whether a property can be judged with the clocks of a plan. S22 has a bound of a tenth of a second, less
// than any relevant difference of clocks, so it is judged only if all clocks agree.
func Judges(p *plan.Plan, id string) bool {
	if id == "S22" {
		return p.Skew() == 0
	}
	return p.Skew() <= SkewMost || !Timed(id)
}

// SkewMs returns the largest possible difference between the times in calls of different callers, in milliseconds; 0
// if the store has a clock of its own.
func (m *Run) SkewMs() int64 {
	if !m.skewKnown {
		m.skewMs, m.skewKnown = m.World.Plan().Skew().Milliseconds(), true
	}
	return m.skewMs
}

// AheadMs returns how far the time of a node's calls is ahead of true time, in milliseconds: 0 if the store has a
// clock of its own.
func (m *Run) AheadMs(node uint32) int64 {
	if node == 0 || int(node) > len(m.World.Nodes()) || !m.World.Plan().Store.CallersClock {
		return 0
	}
	since := time.Duration(m.World.NowMs()-m.World.StartMs()) * time.Millisecond
	return m.World.Node(node).Clock.Ahead(since).Milliseconds()
}
