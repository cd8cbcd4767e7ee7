package command

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/feature"
)

// cells returns the coverage points that make up the matrix of faults and features.
func cells() []string {
	var points []string
	for _, k := range faults.Kinds() {
		for _, f := range feature.All {
			points = append(points, feature.Met(string(k.Kind), f.Name))
		}
	}
	return points
}

// reached returns the number of coverage points reached. It does not count the cells of the matrix, which is printed
// separately.
func (r *report) reached() int {
	n := 0
	for _, p := range r.sum.Coverage {
		if !feature.IsMet(p.Name) {
			n++
		}
	}
	return n
}

// printMatrix prints how often each kind of fault hit each feature, if --matrix was given.
func (a *app) printMatrix(r *report) {
	if !r.subject.matrix && !r.subject.scenario.Matrix {
		return
	}
	filled, empty := 0, []string(nil)
	var rows strings.Builder
	for _, k := range faults.Kinds() {
		fmt.Fprintf(&rows, "  %-20s", k.Kind)
		for _, f := range feature.All {
			count := r.sum.Count(feature.Met(string(k.Kind), f.Name))
			fmt.Fprintf(&rows, "%5s", short(count))
			if count > 0 {
				filled++
			} else {
				empty = append(empty, feature.Met(string(k.Kind), f.Name))
			}
		}
		rows.WriteString("\n")
	}
	a.printf("\nfaults and features that met: %d of %d\n  %-20s", filled, filled+len(empty), "")
	for i := range feature.All {
		a.printf("%5c", 'a'+i)
	}
	a.printf("\n%s", rows.String())
	var legend []string
	for i, f := range feature.All {
		legend = append(legend, fmt.Sprintf("%c %s", 'a'+i, f.Name))
	}
	a.printf("%s", columns(legend, a.width))
}

// short formats a count in at most four characters.
func short(n uint64) string {
	switch {
	case n == 0:
		return "-"
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}
