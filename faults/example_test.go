package faults_test

import (
	"fmt"

	"github.com/durosim/durosim/faults"
)

func ExampleCatalogue() {
	for _, b := range faults.Catalogue() {
		if b.Scenario == "two-ranges" && b.Properties[0] == "S01" {
			fmt.Println(b.ID)
		}
	}
	// Output:
	// provider/any-range
	// provider/empty-filter-as-none
}

func ExampleLookup() {
	b, ok := faults.Lookup("engine/version-check-missing")
	fmt.Println(ok, b.Properties, b.Scenario, b.With)
	_, ok = faults.Lookup("engine/no-such-bug")
	fmt.Println(ok)
	// Output:
	// true [S10] rolling-upgrade [engine/filter-not-declared]
	// false
}
