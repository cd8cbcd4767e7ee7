package properties

import (
	"github.com/durosim/durosim/properties/internal/coverage"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options select what a monitor watches. The zero value watches everything that always holds.
type Options struct {
	// Properties lists the ids to check ("S01"); nil means all of Catalogue. The comparison with the shadow store has the
	// id "shadow".
	Properties []string
	// Without lists ids that are not reported, although Properties or the default includes them.
	Without []string
	// Expectations are what a scenario expects in addition to the properties. They are checked whatever Properties
	// selects.
	Expectations []plan.Expectation
	// Referee has properties/oracle judge every answer of the store. It is a plain implementation, slow for long
	// runs. A rejected answer is reported under the id "referee".
	Referee bool
	// Matrix adds coverage points that count which kinds of faults met which features of orchestrations, such as
	// "fault answer-lost meets sessions".
	Matrix bool
}

// New makes the monitor of one run, for cluster.Config.Monitor. A monitor serves a single run.
func New(w *cluster.World, opts Options) cluster.Monitor {
	return monitor.New(w, monitor.Options(opts))
}

// NotJudged returns the ids of the properties that a run of the plan does not judge because its store uses the clocks
// of its callers and these differ by more than a second. S22 is not judged if the clocks differ at all.
func NotJudged(p *plan.Plan) []string {
	var ids []string
	for _, property := range Catalogue() {
		if !monitor.Judges(p, property.ID) {
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

// CoveragePoints returns the points that a run can reach, sorted by name. In addition, a run reports a point for each
// change of a node's build and the phase in which it happened ("upgrade 1.5.0->2.0.0 turbulence", "rollback ..."),
// for each kind of event in a history that a node received after such a change in that phase ("upgrade 1.5.0->2.0.0
// turbulence TimerFired", once per run), and for each fulfilled sometimes of a scenario ("expect:LINE:TEXT").
func CoveragePoints() []PointInfo {
	var list []PointInfo
	for _, p := range coverage.All() {
		list = append(list, PointInfo(p))
	}
	return list
}
