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

func TestCoverage(t *testing.T) {
	tests := []struct {
		point string
		story string
		not   string // the same story without the cause; it must not reach the point
	}{
		{"two-builds-live", "0 up A 1.5.0\n1 up B 2.0.0", "0 up A 1.5.0\n1 up B 1.5.0"},
		{"three-builds-live", "0 up A 1.5.0\n1 up B 2.0.0\n2 up C 1.6.0", "0 up A 1.5.0\n1 up B 2.0.0\n2 down B\n3 up C 1.6.0"},
		{"self-stranded", "0 up A 2.0.0 range=1.0.0..1.9.9", "0 up A 2.0.0 range=1.0.0..2.0.0"},
		{"upgrade 1.5.0->2.0.0 faults", "0 up A 1.5.0\n1 down A\n2 up A 2.0.0", "0 up A 1.5.0\n1 down A\n2 up A 1.5.0"},
		{"rollback 2.0.0->1.5.0 recovery", "0 up A 2.0.0\n1 down A\n2 phase recovery\n2 up A 1.5.0", "0 up A 2.0.0\n1 down A\n2 up A 1.5.0"},
		{"rollback 2.0.0->2.0.0-rc.1 faults", "0 up A 2.0.0\n1 down A\n2 up A 2.0.0-rc.1", "0 up A 2.0.0-rc.1\n1 down A\n2 up A 2.0.0"},
		{"rollback-with-newer-pins", "0 up A 2.0.0\n1 seed x 2.0.0\n2 down A\n3 up A 1.5.0", "0 up A 2.0.0\n1 seed x 1.5.0\n2 down A\n3 up A 1.5.0"},
		{"upgrade-under-load", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 down A\n2 up A 2.0.0", "0 up A 1.5.0\n0 seed x 1.5.0\n1 down A\n2 up A 2.0.0"},
		{"rescue", "0 phase recovery\n1 phase rescue", "0 phase recovery"},
		{"nobody-admits", "0 up A 1.5.0\n0 seed x 2.0.0\n0 send x", "0 up A 1.5.0\n0 seed x 2.0.0"},
		{"wait-over", "0 up A 1.5.0\n0 seed x 2.0.0\n0 send x\n1 up B 2.0.0\n2 fetch B x", "0 up A 1.5.0\n0 seed x 2.0.0\n0 send x\n1 up B 2.0.0"},
		{"filtered-out", "0 up A 1.5.0\n0 seed y 1.5.0\n0 seed x 2.0.0\n0 send x\n" + Repeat(8, 1, 1, "%d send y\n%d fetch A y\n%d commit A"),
			"0 up A 1.5.0\n0 seed y 1.5.0\n0 seed x 2.0.0\n" + Repeat(8, 1, 1, "%d send y\n%d fetch A y\n%d commit A")},
		{"crash-between-fetch-and-ack", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 crash A", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 commit A\n3 crash A"},
		{"crash-after-commit", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 commit A\n3 crash A", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 crash A"},
		{"drain-while-holding", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 drain A", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 commit A\n3 drain A"},
		{"lock-expired-and-taken-over", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n6000 fetch A x", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 abandon A 0\n6000 fetch A x"},
		{"attempt-count-above-one", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n6000 fetch A x", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x"},
		{"activity-retaken", "0 up A 1.5.0\n0 seed x 1.5.0\n0 work x\n1 fetchwork A x\n6000 fetchwork A x", "0 up A 1.5.0\n0 seed x 1.5.0\n0 work x\n1 fetchwork A x"},
		{"message-arrived-during-lock", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 send x", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 commit A\n3 send x"},
		{"abandon-unregistered", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n1 note A no-handler", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n1 note A turn"},
		{"pin-at-range-end", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x", "0 up A 1.6.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x"},
		{"pin-at-range-start", "0 up A 1.6.0 range=1.5.0..1.6.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x", "0 up A 1.6.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x"},
		{"served-by-other-build", "0 up A 1.6.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n1 note A turn\n1 commit A", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n1 note A turn\n1 commit A"},
		{"healthy-poisoned", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n" + PoisonCycle(10, "incompatible") + "70000 fetch A x\n70000 note A poison",
			"0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n" + PoisonCycle(10, "turn") + "70000 fetch A x\n70000 note A poison"},
		{"upgrade 1.5.0->2.0.0 faults OrchestrationStarted", "0 up A 1.5.0\n0 seed x 1.5.0\n1 down A\n2 up A 2.0.0\n3 send x\n3 fetch A x",
			"0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n0 fetch A x\n1 down A\n2 up A 2.0.0"},
		{"upgrade 1.5.0->2.0.0 recovery OrchestrationStarted", "0 up A 1.5.0\n0 seed x 1.5.0\n1 down A\n2 up A 2.0.0\n3 crash A\n4 up A 2.0.0\n5 phase recovery\n6 send x\n6 fetch A x",
			"0 up A 1.5.0\n0 seed x 1.5.0\n1 down A\n2 up A 2.0.0\n3 send x\n3 fetch A x"},
		{"poison-through-missing-handler", "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n" + PoisonCycle(10, "no-handler") + "70000 fetch A x\n70000 note A poison",
			"0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n" + PoisonCycle(10, "turn") + "70000 fetch A x\n70000 note A poison"},
		{"handler-withdrawn", "0 up A 1.5.0\n0 seed x 1.5.0\n1 deregister A H@1.0.0", "0 up A 1.5.0\n1 deregister A H@1.0.0"},
		{"older-handler-asked-for", "0 up A 1.5.0\n0 latest A\n1 seed x none\n1 start x\n2 fetch A x\n3 note A first\n4 commit A",
			"0 up A 1.5.0\n1 seed x none\n1 start x\n2 fetch A x\n3 note A first\n4 commit A"},
		{"self-stranded-start", "0 up A 2.0.0 range=1.0.0..1.9.9\n1 seed x none\n1 start x\n2 fetch A x\n3 note A first\n4 commit A",
			"0 up A 2.0.0 range=1.0.0..1.9.9\n1 seed x none\n1 start x\n2 fetch A x\n3 note A turn\n4 commit A"},
		{"pre-release-build", "0 up A 2.0.0-rc.1", "0 up A 2.0.0"},
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
