package monitor_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/properties/internal/monitor"
)

// TestStories feeds monitors from the stories in testdata. They print the points that a story reaches, what becomes of
// expectations, violations of each liveness property, how work ends, and the facts that a tracker reports.
func TestStories(t *testing.T) {
	for dir, of := range map[string]struct {
		options monitor.Options
		begun   func(*Rig)
	}{
		"coverage": {options: monitor.Options{Properties: []string{}, Matrix: true}},
		"expect":   {options: monitor.Options{Properties: []string{}}},
		"liveness": {options: monitor.Options{Properties: []string{
			"L01", "L02", "L03", "L04", "L05", "L06", "L08", "L09", "L10", "L11", "L12", "L13",
		}}},
		"outcome": {options: monitor.Options{Properties: []string{"outcome"}}},
		"track":   {options: monitor.Options{Properties: []string{}}, begun: watch},
	} {
		datadriven.Walk(t, filepath.Join("testdata", dir), func(t *testing.T, file string) {
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				return Story(t, file, d.Cmd, d.Input, of.options, of.begun)
			})
		})
	}
}
