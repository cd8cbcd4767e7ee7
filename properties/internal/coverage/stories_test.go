package coverage_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/properties/internal/rig"
)

// TestStories prints the points that each story reaches.
func TestStories(t *testing.T) {
	options := monitor.Options{Properties: []string{}, Matrix: true}
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			return rig.Story(t, file, d.Cmd, d.Input, options, nil)
		})
	})
}
