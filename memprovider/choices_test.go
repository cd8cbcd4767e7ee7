package memprovider_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/memprovider"
)

// TestScripts plays the scripts in testdata, each behind a line of dashes. A block "store" has a store of its own; with
// clock=callers its time may go back.
func TestScripts(t *testing.T) {
	for _, file := range []string{"testdata/choices.txt", "testdata/arrival.txt"} {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			return newWorld(memprovider.Options{CallersClock: d.HasArg("clock")}).Play(d.Expected)
		})
	}
}
