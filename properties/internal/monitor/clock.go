package monitor

import (
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/plan"
)

// Judges reports whether a property is judged in runs of the plan. It is if the plan's clocks differ by no more than
// check.MaxSkew, or if the property does not depend on clocks.
func Judges(p *plan.Plan, id string) bool { return check.Judges(p, id) }
