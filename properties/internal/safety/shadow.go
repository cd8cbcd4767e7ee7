package safety

import (
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
)

// shadowID is the id for reporting that a store's account of its calls is not what their callers sent and got. It is not
// a property of a provider; it checks durosim itself. Unless the account is true, no checker can be trusted.
const shadowID = "shadow"

// shadowChecker judges S06 at the end of a run: it compares the store with the model built from its observations, and so
// sees what no call says that it did.
type shadowChecker struct{ check.Base }

func newShadowChecker(m *check.Run) check.Checker { return &shadowChecker{check.Base{Run: m}} }

func (s *shadowChecker) Finish() {
	store := s.Run.World.Store()
	if store == nil {
		return
	}
	if instance, seen := s.Run.Model.Difference(store.Snapshot()); seen != "" {
		s.Run.Violate(check.Breach{
			Property: "S06", Class: cluster.ClassSafety, Instance: instance,
			Message: "at the end of the run the store holds what no call says that it put there: " + seen,
		})
	}
}
