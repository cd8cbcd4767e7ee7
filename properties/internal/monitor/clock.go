package monitor

import (
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/plan"
)

// Judges reports whether a property is judged in a run of the plan: its clocks differ by no more than check.SkewMost, or the
// property does not depend on them.
func Judges(p *plan.Plan, id string) bool { return check.Judges(p, id) }
