package durosim_test

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim"
)

// printer stands in for a *testing.T, so that the example can show what a passing test logs with go test -v.
type printer struct{}

func (printer) Helper()                           {}
func (printer) Name() string                      { return "TestRefund" }
func (printer) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// In a test of your own, write
//
//	func TestRefund(t *testing.T) {
//		durosim.Test(t, durosim.Config{Scenario: story, Seeds: 50, Handlers: register})
//	}
//
// where story is the text of a scenario, and register registers the handlers that your builds ship. The package's
// example shows both.
func ExampleTest() {
	t := printer{}
	durosim.Test(t, durosim.Config{Scenario: story, Seeds: 50, Handlers: register})
	// Output:
	// durosim: 50 seeds of scenario from 1 on: every property holds; 5 of the seeds, those that 10 divides, had a second judge of the store
	// plan: all 1050 pieces of work ended as expected
	// fate of the work:
	//      1050  completed
	// waits for a build, from when no live node admitted the work:
	//         3  after upgrade A to 2.0.0: max 2.555s, p99 2.555s; the longest is Refund-4 (pin 2.0.0) from 3.376s, seed 12
}

// firstLines records the first lines that each test logs.
type firstLines struct {
	printer
	n    int
	text string
}

func (l *firstLines) Logf(format string, args ...any) {
	lines := strings.SplitAfter(fmt.Sprintf(format+"\n", args...), "\n")
	l.text += strings.Join(lines[:min(l.n, len(lines))], "")
}

func (l *firstLines) Fatalf(format string, args ...any) { l.Logf(format, args...) }
