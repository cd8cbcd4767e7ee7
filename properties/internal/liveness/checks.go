package liveness

import (
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/track"
)

// Checks returns the liveness checkers. Their shared state sees everything before them.
func Checks(s *track.State) []check.Checker {
	return []check.Checker{newPoisonChecker(s), newObligations(s), newParentChecker(s.Run), newCancelChecker(s.Run), newReviveChecker(s.Run), newContentionChecker(s)}
}
