package command

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
)

// TestDetectionIsComplete checks that the table of detection rates contains exactly the planted bugs that a scenario
// shows.
func TestDetectionIsComplete(t *testing.T) {
	var d detection
	sample.OK(t, json.Unmarshal(detectionFile, &d))
	for _, b := range faults.Catalogue() {
		known := slices.ContainsFunc(d.Bugs, func(x detectedBug) bool { return x.ID == string(b.ID) })
		if shown := b.Scenario != ""; known != shown {
			t.Errorf("%s: in detection.json %v, shown by a scenario %v: simdev bugs -starts %d -detection FILE %s makes its line", b.ID, known, shown, d.Starts, b.ID)
		}
	}
	if !slices.IsSortedFunc(d.Bugs, func(a, b detectedBug) int { return cmp.Compare(a.ID, b.ID) }) {
		t.Error("detection.json: the bugs are not in the order of their ids, by which their families are counted")
	}
	for _, b := range d.Bugs {
		if _, ok := faults.Lookup(faults.BugID(b.ID)); !ok || len(b.Seeds) != d.Starts {
			t.Errorf("%s: no such bug, or %d figures in place of %d", b.ID, len(b.Seeds), d.Starts)
		}
	}
}

func TestSure(t *testing.T) {
	bug := detectedBug{Seeds: []uint64{1, 3, 0, 4, 2}} // four finds in 10 seeds, none in 30
	if rate := bug.rate(30); rate != 0.1 {
		t.Errorf("rate %v", rate)
	}
	for rate, want := range map[float64]uint64{1: 1, 0.5: 7, 0.1: 44, 0.01: 459} {
		if got := sure(rate); got != want {
			t.Errorf("%v: %d seeds, want %d", rate, got, want)
		}
	}
}
