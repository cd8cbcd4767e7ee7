package properties

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options say what a Monitor watches. The zero value watches everything that always holds.
type Options struct {
	// Properties are the ids to check ("S01"); nil is all of Catalogue. The comparison with the shadow store goes by the
	// id "shadow".
	Properties []string
	// Without are ids that are not reported, although Properties or the default asks for them.
	Without []string
	// Expectations are what a scenario expects beside that, whatever Properties says.
	Expectations []plan.Expectation
	// Referee has properties/oracle judge every answer of the store. It is naive, and slow for long runs. A refusal is
	// reported under the id "referee".
	Referee bool
}

// wants says whether a property is reported.
func (o *Options) wants(id string) bool {
	switch {
	case slices.Contains(o.Without, id):
		return false
	case o.Properties == nil, id == expectID && len(o.Expectations) > 0, id == refereeID && o.Referee:
		return true
	}
	return slices.Contains(o.Properties, id)
}

// Monitor runs all checkers over one run. It is a cluster.Monitor; New makes one.
type Monitor struct {
	*watch
	coverage *coverage
	expect   *expectChecker // nil if nothing is expected
	referee  *referee       // nil if nobody judges the answers
}

var _ cluster.Monitor = (*Monitor)(nil)

// New makes the monitor of one run, for cluster.Config.Monitor. A monitor is good for one run.
func New(w *cluster.World, opts Options) *Monitor { return newMonitor(w, opts) }

func newMonitor(w world, opts Options) *Monitor {
	asked := make(map[string]bool) // only looked up; which ids there are is known here
	wants := func(id string) bool {
		want, known := asked[id]
		if !known {
			want = opts.wants(id)
			asked[id] = want
		}
		return want
	}
	m := &Monitor{watch: newWatch(w, wants)}
	m.add(safetyChecks(m.run)...)
	if opts.Referee {
		m.referee = newReferee(m.run)
		m.add(m.referee)
	}
	s := newLiveState(m.run)
	m.coverage = newCoverage(m.run, s)
	if len(opts.Expectations) > 0 {
		m.expect = newExpect(m.run, s, opts.Expectations)
	}
	m.add(s)
	m.add(livenessChecks(s)...)
	m.add(newWorkConserving(m.run), m.coverage)
	if m.expect != nil {
		m.add(m.expect)
	}
	return m
}

// WatchHandle is how a world lets the referee see the calls.
func (m *Monitor) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	if m.referee == nil {
		return p
	}
	return m.referee.watch(p, codec)
}

// Coverage are the points that the run has reached so far, sorted by name. The caller owns the slice.
func (m *Monitor) Coverage() []cluster.Point {
	list := m.coverage.points()
	if m.expect != nil {
		list = append(list, m.expect.points()...)
	}
	slices.SortFunc(list, func(a, b cluster.Point) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Count, b.Count))
	})
	return list
}
