package safety

import (
	"fmt"

	"github.com/durosim/durosim/engine/observe"
)

// countText returns the part of a message that compares a count with the expected one.
func countText(was, seen, want uint32) string {
	return fmt.Sprintf(" with attempt count %d, which was %d before the call: expected %d", seen, was, want)
}

// outcomeText describes an outcome in words.
func outcomeText(o observe.Outcome) string {
	switch o {
	case observe.OutcomeOK:
		return "ok"
	case observe.OutcomeNothing:
		return "nothing"
	case observe.OutcomeRetryable:
		return "retryable error"
	case observe.OutcomePermanent:
		return "permanent error"
	}
	return "no outcome"
}
