package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/properties/conformance"
)

// groups lists the groups of provider-level cases in docs/contract/conformance.md, with the highest case number in
// each.
var groups = []struct {
	name string
	last int
}{
	{"AT", 4}, {"EH", 7}, {"IL", 11}, {"LX", 13}, {"MX", 5}, {"QS", 8}, {"IC", 4}, {"MG", 13}, {"LP", 5}, {"PM", 9}, {"AC", 16},
	{"DL", 13}, {"PR", 4}, {"BD", 4}, {"CF", 47}, {"SR", 33}, {"TG", 10}, {"CS", 7}, {"KV", 35}, {"BP", 246},
}

// filterCases are the numbers of the cases in group CF that apply to a provider. The others need a runtime or were
// never assigned.
var filterCases = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 23, 39, 41, 42, 43, 44, 45, 46, 47}

// TestCatalogueIsWhole compares the cases with the contract's: 222 from duroxide's own suite, and 246 that go beyond
// it.
func TestCatalogueIsWhole(t *testing.T) {
	var want []string
	for _, g := range groups {
		for n := 1; n <= g.last; n++ {
			if g.name != "CF" || slices.Contains(filterCases, n) {
				want = append(want, fmt.Sprintf("%s-%02d", g.name, n))
			}
		}
	}
	if len(want) != 222+246 {
		t.Fatalf("the list has %d ids, the contract 468", len(want))
	}
	got := conformance.IDs()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the contract's cases (-) and the package's (+):\n%s", diff)
	}
}

func TestEveryCaseSays(t *testing.T) {
	for _, problem := range conformance.Problems() {
		t.Error(problem)
	}
}
