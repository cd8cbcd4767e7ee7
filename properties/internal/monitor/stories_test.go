package monitor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/properties/internal/safety"
)

// TestStories feeds monitors from the stories in testdata. They print the points that a story reaches, what becomes of
// expectations, violations of each property, how work ends, and the facts that a tracker reports.
func TestStories(t *testing.T) {
	for dir, of := range map[string]struct {
		options monitor.Options
		exact   bool
		begun   func(*Rig)
	}{
		"coverage": {options: monitor.Options{Properties: []string{}, Matrix: true}},
		"expect":   {options: monitor.Options{Properties: []string{}}},
		"liveness": {options: monitor.Options{Properties: []string{
			"L01", "L02", "L03", "L04", "L05", "L06", "L08", "L09", "L10", "L11", "L12", "L13",
		}}},
		"outcome": {options: monitor.Options{Properties: []string{"outcome"}}},
		"safety":  {options: monitor.Options{Properties: safety.IDs()}, exact: true},
		"track":   {options: monitor.Options{Properties: []string{}}, begun: watch},
	} {
		datadriven.Walk(t, filepath.Join("testdata", dir), func(t *testing.T, file string) {
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				return Story(t, file, d.Cmd, d.Input, of.options, of.exact, of.begun)
			})
		})
	}
}

// TestEachIsTold looks for a good and a bad story of each safety property.
func TestEachIsTold(t *testing.T) {
	for _, id := range safety.IDs() {
		if id == "S29" || id == "S30" {
			continue // told by TestOutputsOfBuilds and TestSchemas
		}
		text, err := os.ReadFile(filepath.Join("testdata", "safety", id+".txt"))
		for _, half := range []string{"_ok", "_bad"} {
			if !strings.Contains("\n"+string(text), "\n"+id+half) {
				t.Errorf("no story is titled %s: %v", id+half, err)
			}
		}
	}
}
