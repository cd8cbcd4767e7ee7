package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/coverage"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options selects what a monitor watches. The zero value checks every property and no expectations.
type Options struct {
	// Properties lists the IDs of the properties to check ("S01"). If it is nil, all of Catalogue is checked.
	Properties []string
	// Without lists IDs that are not reported, even if Properties or the default includes them.
	Without []string
	// UserOnly leaves out what can blame nobody but durosim, which is the turns of its own nodes, unless Properties is set
	// or the plan has planted bugs or a profile.
	UserOnly bool
	// Expectations lists what a scenario expects in addition to the properties. They are always checked, whatever
	// Properties selects.
	Expectations []plan.Expectation
	// SecondJudge makes properties/oracle judge every answer and the rows of the store in each run whose seed is a
	// multiple of it, 1 for all, and in all runs of a plan with planted bugs or a profile, and over a foreign store.
	// What the contract does not allow violates the property that says so, or "provider" if none does.
	SecondJudge uint64
	// Matrix adds coverage points that count which kinds of faults hit which features of orchestrations, such as "fault
	// answer-lost meets sessions".
	Matrix bool
	// Apart, if not nil, numbers violations. A run keeps three violations of each mistake, and does so for each number: what
	// is known must not crowd out what only looks like it. A number of 0 or more says that it is known; of ends that are,
	// it keeps all.
	Apart func(v cluster.Violation) int
}

// New returns a monitor for one run, for use in cluster.Config.Monitor. A monitor cannot be reused for another run.
func New(w *cluster.World, opts Options) cluster.Monitor {
	return monitor.New(w, monitor.Options(opts))
}

// NotJudged returns the IDs of the properties that are not judged in a run of the plan because its store uses its
// callers' clocks and these differ by more than a second. S22 is not judged if the clocks differ at all.
func NotJudged(p *plan.Plan) []string {
	var ids []string
	for _, property := range Catalogue() {
		if !check.Judges(p, property.ID) {
			ids = append(ids, property.ID)
		}
	}
	return ids
}

// PointInfo describes a coverage point: a named state that a campaign should reach.
type PointInfo struct {
	Name    string
	Summary string
}

// CoveragePoints returns the points that a run can reach, sorted by name. In addition, a run reports a point
//
//   - for each change of a node's build, with the phase in which it happened ("upgrade 1.5.0->2.0.0 faults",
//     "rollback ...");
//   - for each kind of event in a history that a node received after such a change in that phase ("upgrade 1.5.0->2.0.0
//     faults TimerFired"), once per run;
//   - for each fulfilled sometimes line of a scenario, and each always line that something matched
//     ("expect:LINE:TEXT").
func CoveragePoints() []PointInfo {
	var list []PointInfo
	for _, p := range coverage.All() {
		list = append(list, PointInfo(p))
	}
	return list
}

// Features returns the features that orchestrations can use, which Options.Matrix crosses with the kinds of faults.
func Features() []PointInfo {
	var list []PointInfo
	for _, f := range coverage.Features {
		list = append(list, PointInfo(f))
	}
	return list
}

// Met returns the name of the coverage point that is reached when a fault hits a feature.
func Met(fault, feature string) string { return coverage.Met(fault, feature) }

// Cells returns the points of Met for all faults and features.
func Cells() (points []string) {
	for _, k := range faults.Kinds() {
		for _, f := range coverage.Features {
			points = append(points, Met(string(k.Kind), f.Name))
		}
	}
	return points
}

// CheckPoint returns an error if no run can reach a coverage point of that name. Changes of builds and the lines of
// expectations are not looked up.
func CheckPoint(name string) error {
	for _, open := range []string{"upgrade ", "rollback ", "expect:"} {
		if strings.HasPrefix(name, open) {
			return nil
		}
	}
	known := Cells()
	for _, p := range coverage.All() {
		known = append(known, p.Name)
	}
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("no run can reach the coverage point %q; \"simrun list coverage\" lists all%s", name, pretty.Hint(name, known))
}

// IsMet reports whether a coverage point is one of those that Met names.
func IsMet(point string) bool { return coverage.IsMet(point) }
