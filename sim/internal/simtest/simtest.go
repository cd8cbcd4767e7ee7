package simtest

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/sim"
)

// Labels for keys.
var (
	Node  = sim.NewLabel("node")
	Call  = sim.NewLabel("call")
	Timer = sim.NewLabel("timer")
)

// MustPanic fails the test unless f panics with a text that contains want.
func MustPanic(t *testing.T, want string, f func()) {
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
