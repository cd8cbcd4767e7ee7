package safety

import (
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
)

// shadowID is the id for reporting a difference between the store and its shadow. It is not a property of a provider;
// it checks durosim itself. Unless the observations are complete and true, no checker can be trusted.
const shadowID = "shadow"

// shadowChecker compares the store at the end of a run with the model built from its observations.
type shadowChecker struct{ check.Base }

func newShadowChecker(m *check.Run) check.Checker { return &shadowChecker{check.Base{Run: m}} }

func (s *shadowChecker) Finish() {
	store := s.Run.World.Store()
	if store == nil {
		return
	}
	if instance, seen := s.Run.Model.Difference(store.Snapshot()); seen != "" {
		s.Run.Violate(check.Breach{
			Property: shadowID, Class: cluster.ClassInternal, Instance: instance,
			Message: "the store differs from its observations: " + seen,
		})
	}
}
