package monitor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/internal/answers"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/coverage"
	"github.com/durosim/durosim/properties/internal/expect"
	"github.com/durosim/durosim/properties/internal/liveness"
	"github.com/durosim/durosim/properties/internal/outcome"
	"github.com/durosim/durosim/properties/internal/safety"
	"github.com/durosim/durosim/properties/internal/track"
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
	case o.Properties == nil, id == expect.ID && len(o.Expectations) > 0, id == answers.ID && o.Referee:
		return true
	}
	return slices.Contains(o.Properties, id)
}

// Monitor runs all checkers over one run. It is a cluster.Monitor; New makes one.
type Monitor struct {
	*check.Monitor
	coverage *coverage.Counter
	expect   *expect.Checker // nil if nothing is expected
	outcome  *outcome.Checker
	referee  *answers.Judge // nil if nobody judges the answers
}

var _ cluster.Monitor = (*Monitor)(nil)

// New makes the monitor of one run. It is good for that run.
func New(w check.World, opts Options) *Monitor {
	asked := make(map[string]bool) // only looked up; which ids there are is known here
	wants := func(id string) bool {
		want, known := asked[id]
		if !known {
			want = opts.wants(id)
			asked[id] = want
		}
		return want
	}
	m := &Monitor{Monitor: check.New(w, wants)}
	m.Add(safety.Checks(m.Run)...)
	if opts.Referee {
		m.referee = answers.New(m.Run)
		m.Add(m.referee)
	}
	s := track.New(m.Run)
	m.coverage = coverage.New(m.Run, s)
	if len(opts.Expectations) > 0 {
		m.expect = expect.New(m.Run, s, opts.Expectations)
	}
	m.Add(s)
	m.Add(liveness.Checks(s)...)
	m.Add(m.coverage)
	if m.expect != nil {
		m.Add(m.expect)
	}
	m.outcome = outcome.New(m.Run, s)
	m.Add(m.outcome)
	return m
}

// WatchHandle is how a world lets the referee see the calls.
func (m *Monitor) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	if m.referee == nil {
		return p
	}
	return m.referee.Watch(p, codec)
}

// Fates are what became of the plan's instances, after Finish.
func (m *Monitor) Fates() []cluster.Fate { return m.outcome.Fates() }

// Waits are the times for which work waited for a build, after Finish.
func (m *Monitor) Waits() []cluster.Wait { return m.outcome.Waits() }

// Coverage are the points that the run has reached so far, sorted by name. The caller owns the slice.
func (m *Monitor) Coverage() []cluster.Point {
	list := m.coverage.Points()
	if m.expect != nil {
		list = append(list, m.expect.Points()...)
	}
	slices.SortFunc(list, func(a, b cluster.Point) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Count, b.Count))
	})
	return list
}
