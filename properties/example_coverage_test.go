package properties

import (
	"fmt"
	"strings"
)

func ExampleCoveragePoints() {
	for _, p := range CoveragePoints() {
		if strings.HasPrefix(p.Name, "can-on-") {
			fmt.Printf("%s: %s\n", p.Name, p.Summary)
		}
	}
	// Output:
	// can-on-newer-build: a continue-as-new began its next execution on a newer build
	// can-on-older-build: a continue-as-new began its next execution on an older build
}
