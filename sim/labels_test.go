package sim_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/sim"
)

// Labels for the keys of tests.
var (
	labelNode  = sim.NewLabel("node")
	labelCall  = sim.NewLabel("call")
	labelTimer = sim.NewLabel("timer")
)

// mustPanic fails the test unless f panics with a text that contains want.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got, _ := recover().(string)
		if !strings.Contains(got, want) {
			t.Errorf("panic is %q, want one that contains %q", got, want)
		}
	}()
	f()
}
