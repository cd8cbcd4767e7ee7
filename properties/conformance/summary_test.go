package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/properties/conformance"
)

// fakeT is a test that runs its subtests immediately and records what they log.
type fakeT struct {
	logged  *strings.Builder
	cleanup *[]func()
}

func (fakeT) Helper()             {}
func (fakeT) Parallel()           {}
func (fakeT) Skip(...any)         {}
func (fakeT) Fatal(...any)        {}
func (f fakeT) Log(args ...any)   { fmt.Fprint(f.logged, args...) }
func (f fakeT) Cleanup(do func()) { *f.cleanup = append(*f.cleanup, do) }
func (f fakeT) Run(_ string, ask func(fakeT)) bool {
	ask(f)
	return true
}

// TestRunLogsSummary checks that Run logs the verdicts by group after the last case.
func TestRunLogsSummary(t *testing.T) {
	f := fakeT{&strings.Builder{}, &[]func(){}}
	conformance.Run(f, memory(nil))
	if f.logged.Len() > 0 {
		t.Errorf("logged before the end: %s", f.logged)
	}
	for _, do := range *f.cleanup {
		do()
	}
	for _, want := range []string{"group   passed   failed   known   skipped\n", "\nAT      4        0        0       0\n", "\nLP      3        0        0       2\n"} {
		if !strings.Contains(f.logged.String(), want) {
			t.Errorf("%q is not in\n%s", want, f.logged)
		}
	}
}
