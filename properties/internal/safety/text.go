package safety

import (
	"fmt"

	"github.com/durosim/durosim/engine"
)

// countText returns the end of a sentence about a count.
func countText(was, seen, want uint32) string {
	return fmt.Sprintf(" with attempt count %d, and before the call it was %d: expected %d", seen, was, want)
}

// outcomeText describes an outcome in words.
func outcomeText(o engine.Outcome) string {
	switch o {
	case engine.OutcomeOK:
		return "ok"
	case engine.OutcomeNothing:
		return "nothing"
	case engine.OutcomeRetryable:
		return "retryable error"
	case engine.OutcomePermanent:
		return "permanent error"
	}
	return "no outcome"
}
