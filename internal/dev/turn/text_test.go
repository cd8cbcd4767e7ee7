package turn_test

import (
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/dev/turn"
)

// TestText has the table from docs/contract/runtime.md#r3.1, and what a cause adds to the text.
func TestText(t *testing.T) {
	message := "why"
	poison := func(k eventdata.PoisonKind, attempts uint32, cause string) engine.ErrorDetails {
		return engine.ErrorDetails{Poison: &eventdata.PoisonError{AttemptCount: attempts, MaxAttempts: 5, MessageType: eventdata.PoisonType{
			Kind: k, Instance: "i", ActivityName: "a", ActivityID: 7, Error: "e", Cause: cause,
		}}}
	}
	application := func(k eventdata.ApplicationKind) engine.ErrorDetails {
		return engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: k, Message: "m", Reason: "r"}}
	}
	for _, c := range []struct {
		details engine.ErrorDetails
		want    string
	}{
		{engine.ErrorDetails{}, ""},
		{engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "op", Message: "m"}}, "infrastructure:op: m"},
		{engine.ErrorDetails{Configuration: &eventdata.ConfigurationError{Resource: "x", Message: &message}}, "nondeterministic: why"},
		{engine.ErrorDetails{Configuration: &eventdata.ConfigurationError{Resource: "x"}}, "nondeterministic in x"},
		{application(eventdata.AppCancelled), "canceled: r"},
		{application(eventdata.AppPanicked), "orchestration panicked: m"},
		{application(eventdata.AppActivityFailed), "m"},
		{poison(eventdata.PoisonOrchestration, 6, ""), "poison: orchestration i exceeded 6 attempts (max 5)"},
		{poison(eventdata.PoisonOrchestration, 6, "swept: long"), "poison: orchestration i exceeded 6 attempts (max 5): swept: long"},
		{poison(eventdata.PoisonOrchestration, 5, "swept: long"), "poison: orchestration i was given up at attempt 5: swept: long"},
		{poison(eventdata.PoisonOrchestration, 1, "dead letter: long"), "poison: orchestration i was given up at attempt 1: dead letter: long"},
		{poison(eventdata.PoisonActivity, 6, "crashes"), "poison: activity a#7 exceeded 6 attempts (max 5): crashes"},
		{poison(eventdata.PoisonFailedDeserialization, 6, ""), "poison: orchestration i history deserialization failed after 6 attempts (max 5): e"},
	} {
		if got := turn.Text(c.details); got != c.want || got != c.details.Display() {
			t.Errorf("Text(%+v) = %q, Display() = %q, want %q", c.details, got, c.details.Display(), c.want)
		}
	}
}
