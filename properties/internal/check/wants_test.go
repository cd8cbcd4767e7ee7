package check

import (
	"testing"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/record"
)

// TestRoomForKinds checks that the tables of subscriptions have room for every kind.
func TestRoomForKinds(t *testing.T) {
	const most = uint8(kindsMost)
	for name, known := range map[string]bool{
		"observation": observe.Kind(most).String() != observe.Kind(255).String(),
		"record":      record.Kind(most).String() != record.Kind(255).String(),
		"call":        observe.CallKind(most).String() != observe.CallKind(255).String(),
		"outcome":     observe.OutcomePermanent >= outcomesMost,
	} {
		if known {
			t.Errorf("there are more kinds of %ss than places", name)
		}
	}
}
