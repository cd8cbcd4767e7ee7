package monitor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/internal/coverage"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// TestCoverage checks points that the stories in testdata/coverage do not reach.
func TestCoverage(t *testing.T) {
	tests := []struct {
		point string
		story string
		not   string // the same story without the cause; it must not reach the point
	}{
		{"rollback 2.0.0->1.5.0 recovery", "0 up A 2.0.0\n1 down A\n2 phase recovery\n2 up A 1.5.0", "0 up A 2.0.0\n1 down A\n2 up A 1.5.0"},
		{"rollback 2.0.0->2.0.0-rc.1 faults", "0 up A 2.0.0\n1 down A\n2 up A 2.0.0-rc.1", "0 up A 2.0.0-rc.1\n1 down A\n2 up A 2.0.0"},
		{"wait-over", "0 up A 1.5.0\n0 seed x 2.0.0\n0 send x\n1 up B 2.0.0\n2 fetch B x", "0 up A 1.5.0\n0 seed x 2.0.0\n0 send x\n1 up B 2.0.0"},
		{"healthy-poisoned", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n" + PoisonCycle(10, "incompatible") + "70000 fetch A x\n70000 note A poison",
			"0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n" + PoisonCycle(10, "turn") + "70000 fetch A x\n70000 note A poison"},
		{"upgrade 1.5.0->2.0.0 faults OrchestrationStarted", "0 up A 1.5.0\n0 seed x 1.5.0\n1 down A\n2 up A 2.0.0\n3 send x\n3 fetch A x",
			"0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n0 fetch A x\n1 down A\n2 up A 2.0.0"},
		{"upgrade 1.5.0->2.0.0 recovery OrchestrationStarted", "0 up A 1.5.0\n0 seed x 1.5.0\n1 down A\n2 up A 2.0.0\n3 crash A\n4 up A 2.0.0\n5 phase recovery\n6 send x\n6 fetch A x",
			"0 up A 1.5.0\n0 seed x 1.5.0\n1 down A\n2 up A 2.0.0\n3 send x\n3 fetch A x"},
		{"self-stranded-start", "0 up A 2.0.0 range=1.0.0..1.9.9\n1 seed x none\n1 start x\n2 fetch A x\n3 note A first\n4 commit A",
			"0 up A 2.0.0 range=1.0.0..1.9.9\n1 seed x none\n1 start x\n2 fetch A x\n3 note A turn\n4 commit A"},
	}
	reached := func(story, point string) bool {
		r := New(t, plan.Plan{}, monitor.Options{})
		r.Tell(story)
		return slices.ContainsFunc(r.M.Coverage(), func(p cluster.Point) bool { return p.Name == point && p.Count > 0 })
	}
	for _, test := range tests {
		if !reached(test.story, test.point) {
			t.Errorf("%s is not reached", test.point)
		}
		if reached(test.not, test.point) {
			t.Errorf("%s is reached without cause", test.point)
		}
	}
}

// TestAllPoints checks that the list of all points is sorted by name, and contains each point and each kind of fault
// exactly once.
func TestAllPoints(t *testing.T) {
	all := coverage.All()
	if !slices.IsSortedFunc(all, func(a, b coverage.Point) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the points are not sorted by name")
	}
	names := map[string]string{}
	for _, p := range all {
		names[p.Name] = p.Summary
	}
	want := map[string]string{}
	for _, p := range coverage.Points {
		want[p.Name] = p.Summary
	}
	for _, f := range faults.Kinds() {
		want["fault "+string(f.Kind)] = f.Summary
	}
	if diff := cmp.Diff(want, names); diff != "" || len(all) != len(want) {
		t.Errorf("%d points (-want +got):\n%s", len(all), diff)
	}
}
