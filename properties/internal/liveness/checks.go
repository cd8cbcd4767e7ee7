package liveness

import (
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/track"
)

// Checks returns the liveness checkers. The state that they share must see everything before they do.
func Checks(s *track.State) []check.Checker {
	return []check.Checker{newPoisonChecker(s), newObligations(s), newParentChecker(s.Run), newCancelChecker(s.Run), newReviveChecker(s.Run), newContentionChecker(s)}
}
