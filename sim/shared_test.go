package sim_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/sim"
)

var (
	labelNode  = sim.NewLabel("node")
	labelCall  = sim.NewLabel("call")
	labelTimer = sim.NewLabel("timer")
)

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got, _ := recover().(string)
		if !strings.Contains(got, want) {
			t.Errorf("panic is %q, want one that says %q", got, want)
		}
	}()
	f()
}
