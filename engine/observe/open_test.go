package observe_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/engine/observe"
)

// TestOpen checks that numbers set aside stay off the list until they are touched, and that the list stays sorted.
func TestOpen(t *testing.T) {
	var o observe.Open
	o.Touch(3) // before the first list, so it has no effect
	step := func(last observe.InstanceNo, want ...observe.InstanceNo) {
		t.Helper()
		if got := slices.Collect(o.Upto(last)); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", last, got, want)
		}
	}
	step(0)
	step(4, 1, 2, 3, 4)
	o.SetAside(2)
	o.SetAside(4)
	step(4, 1, 3)
	o.Touch(4)
	o.Touch(1) // already on the list
	step(5, 1, 3, 4, 5)
	o.SetAside(3)
	o.Touch(3) // before it was set aside
	o.Touch(2)
	step(5, 1, 2, 3, 4, 5)
	for no := range o.Upto(5) { // all but the first and the last
		if no > 1 && no < 5 {
			o.SetAside(no)
		}
	}
	step(6, 1, 5, 6)
	o.SetAside(1)
	step(6, 5, 6)
	o.Touch(1)
	o.Touch(3)
	step(6, 1, 3, 5, 6)
}
