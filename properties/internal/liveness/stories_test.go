package liveness_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/properties/internal/rig"
)

// TestStories runs the stories in testdata, which has a file for each liveness property. It prints complete violations.
func TestStories(t *testing.T) {
	options := monitor.Options{Properties: []string{
		"L01", "L02", "L03", "L04", "L05", "L06", "L08", "L09", "L10", "L11", "L12", "L13",
	}}
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			return rig.Story(t, file, d.Cmd, d.Input, options, nil)
		})
	})
}
