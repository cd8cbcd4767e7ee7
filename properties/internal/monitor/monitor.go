package monitor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/coverage"
	"github.com/durosim/durosim/properties/internal/expect"
	"github.com/durosim/durosim/properties/internal/liveness"
	"github.com/durosim/durosim/properties/internal/outcome"
	"github.com/durosim/durosim/properties/internal/safety"
	"github.com/durosim/durosim/properties/internal/secondjudge"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options selects what a Monitor watches. The zero value checks every property and no expectations.
type Options struct {
	// Properties lists the ids of the properties to check ("S01"). If it is nil, the whole catalogue is checked.
	Properties []string
	// Without lists ids that are not reported, even if Properties or the default includes them.
	Without []string
	// UserOnly leaves out what can blame nobody but durosim, which is the turns of its own nodes, unless Properties is set
	// or the plan has planted bugs or a profile.
	UserOnly bool
	// Expectations lists what a scenario expects in addition to the properties. They are always checked, whatever
	// Properties selects.
	Expectations []plan.Expectation
	// SecondJudge makes properties/oracle judge every answer and the rows of the store in each run whose seed is a
	// multiple of it, 1 for all, and in all runs of a plan with planted bugs or a profile, and over a foreign store. What
	// the contract does not allow violates the property that says so, or "provider" if none does.
	SecondJudge uint64
	// Matrix adds coverage points that count which kinds of faults hit which features of orchestrations, such as "fault
	// answer-lost meets sessions".
	Matrix bool
	// Apart, if not nil, numbers violations. A run keeps three violations of each mistake, and does so for each number: what
	// is known must not crowd out what only looks like it. A number of 0 or more says that it is known; of ends that are,
	// it keeps all.
	Apart func(v cluster.Violation) int
}

// wants reports whether a property is reported for a run of the plan.
func (o *Options) wants(id string, p *plan.Plan) bool {
	switch {
	case id == safety.OwnTurns:
		return !o.UserOnly || o.Properties != nil || p.Planted()
	case slices.Contains(o.Without, id):
		return false
	case o.Properties == nil, id == expect.ID && len(o.Expectations) > 0, id == cluster.PropertyProvider && o.SecondJudge > 0:
		return true
	}
	return slices.Contains(o.Properties, id)
}

// Monitor runs all checkers over one run. It implements cluster.Monitor. Use New to create one.
type Monitor struct {
	*check.Monitor
	coverage *coverage.Counter
	matrix   *coverage.Matrix // nil if Options.Matrix is not set
	expect   *expect.Checker  // nil if there are no expectations
	outcome  *outcome.Checker
	second   *secondjudge.Judge // nil if there is no second judge
}

var _ cluster.Monitor = (*Monitor)(nil)

// New returns a monitor for one run. A monitor cannot be reused for another run.
func New(w check.View, opts Options) *Monitor {
	asked := make(map[string]bool) // never iterated over; the ids are in a fixed order below
	wants := func(id string) bool {
		want, known := asked[id]
		if !known {
			want = opts.wants(id, w.Plan()) && check.Judges(w.Plan(), id)
			asked[id] = want
		}
		return want
	}
	m := &Monitor{Monitor: check.New(w, wants)}
	m.Apart = opts.Apart
	m.Add(safety.Checks(m.Run)...)
	if opts.SecondJudge > 0 && w.Seed()%opts.SecondJudge == 0 || w.Plan().Planted() || w.Foreign() {
		m.second = secondjudge.New(m.Run)
		m.Add(m.second)
	}
	s := track.New(m.Run)
	m.coverage = coverage.New(m.Run, s)
	if len(opts.Expectations) > 0 {
		m.expect = expect.New(m.Run, s, opts.Expectations)
	}
	m.Add(s)
	m.Add(liveness.Checks(s)...)
	m.Add(m.coverage)
	if opts.Matrix {
		m.matrix = coverage.NewMatrix(m.Run, s)
		m.Add(m.matrix)
	}
	if m.expect != nil {
		m.Add(m.expect)
	}
	m.outcome = outcome.New(m.Run, s)
	m.Add(m.outcome)
	return m
}

// WatchHandle returns a handle that shows every call to the second judge.
func (m *Monitor) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	if m.second == nil {
		return p
	}
	return m.second.Watch(p, codec)
}

// Told returns how work ended. It must be called after Finish.
func (m *Monitor) Told() cluster.Told { return m.outcome.Told() }

// Coverage returns the points reached so far, sorted by name. The caller owns the slice.
func (m *Monitor) Coverage() []cluster.Point {
	list := m.coverage.Points()
	if m.expect != nil {
		list = append(list, m.expect.Points()...)
	}
	if m.matrix != nil {
		list = append(list, m.matrix.Points()...)
	}
	slices.SortFunc(list, func(a, b cluster.Point) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Count, b.Count))
	})
	return list
}
