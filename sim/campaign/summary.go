package campaign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// Summary is the result of a campaign. Its JSON is the greater part of what simrun run --json prints.
type Summary struct {
	// Seeds is the number of merged runs, and Total is the number of requested runs. They differ if the campaign
	// stopped early.
	Seeds uint64 `json:"seeds"`
	Total uint64 `json:"-"`
	// Interrupted reports whether Options.Context ended the campaign.
	Interrupted bool `json:"interrupted,omitempty"`
	// Passed counts the merged runs without violations, drifts or internal errors.
	Passed uint64 `json:"passed"`
	// Totals over all runs.
	cluster.Totals
	// Digest combines the runs' digests in seed order. If durosim crashed in a run, that run's digest is all zeros.
	Digest sim.Digest `json:"digest"`
	// Coverage lists the coverage points reached, with counts, sorted by name.
	Coverage Coverage `json:"coverage"`
	// Violations are sorted by seed and, within a seed, by order of discovery. Omitted counts the violations beyond the
	// limit, each like one that is kept.
	Violations []Violation `json:"violations"`
	Omitted    uint64      `json:"violations_omitted"`
	// Properties counts the violations of each violated property. Properties are sorted by the seed of their first
	// violation. Within a seed, properties of the plan come last; the others are sorted by step, then with safety
	// before liveness, then by id. A cause thus comes before its consequences. Each expectation in a scenario counts as
	// a separate property.
	Properties []PropertyCount `json:"-"`
	// Fate describes how the work ended.
	Fate Fate `json:"fate"`
	// Drifts lists the seeds whose two runs differ. Internal lists the runs in which durosim crashed. Both are sorted
	// by seed.
	Drifts   []Drift         `json:"drifts"`
	Internal []InternalError `json:"internal_errors"`
}

// Coverage lists coverage points, sorted by name. Its JSON is an object with the number of times that each was reached.
type Coverage []cluster.Point

// MarshalJSON implements json.Marshaler.
func (c Coverage) MarshalJSON() ([]byte, error) {
	counts := map[string]uint64{}
	for _, p := range c {
		counts[p.Name] = p.Count
	}
	return json.Marshal(counts)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Coverage) UnmarshalJSON(data []byte) error {
	var counts map[string]uint64
	err := json.Unmarshal(data, &counts)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		*c = append(*c, cluster.Point{Name: name, Count: counts[name]})
	}
	return err
}

// Violation is a violation, with the seed of its run and, once a report is made, the command that shows it.
type Violation struct {
	Seed uint64 `json:"seed,string"`
	cluster.Violation
	Repro string `json:"repro"`
}

// PropertyCount counts the violations of a property.
type PropertyCount struct {
	Property string
	Class    cluster.Class
	// Seeds is the number of runs that violate the property, and FirstSeed is the lowest of their seeds. Violations is
	// the total number of violations.
	Seeds, Violations, FirstSeed uint64
	// First is the first violation.
	First Violation

	lastSeed uint64 // the last seed counted
}

// ofEnds is the property that judges the ends of the work.
const ofEnds = "outcome"

// Plan returns a one-sentence verdict on the plan: on its work, and on what it expects of its runs besides.
func (s *Summary) Plan() string {
	var first Violation
	for _, p := range s.Properties {
		if p.Property == ofEnds {
			first = p.First
		}
	}
	text := s.Fate.verdict(&first) + s.Fate.stranded()
	switch early := s.Fate.Early + uint64(len(s.Internal)); {
	case s.Seeds == 0:
		text = "plan: not judged, since no run was finished"
	case early == s.Seeds:
		text = "plan: not judged, since no run reached its end"
	case early > 0:
		text += fmt.Sprintf("; %d of %d runs ended early, and their work is not judged", early, s.Seeds)
	}
	const shown = 3
	unmet := 0
	for _, p := range s.Properties {
		switch {
		case p.First.Expectation != "":
			if unmet++; unmet > shown {
				continue // they are in the table
			}
			text += fmt.Sprintf("; not met in %d of %d seeds: %s", p.Seeds, s.Seeds, p.First.Expectation)
		case p.Class == cluster.ClassPlan && p.Property != ofEnds:
			text += fmt.Sprintf("; %s is violated in %d of %d seeds", p.Property, p.Seeds, s.Seeds)
		}
	}
	if unmet > shown {
		text += fmt.Sprintf("; and %d more", unmet-shown)
	}
	return text
}

// Drift is a seed whose two runs have different digests.
type Drift struct {
	Seed   uint64     `json:"seed,string"`
	First  sim.Digest `json:"first"`
	Second sim.Digest `json:"second"`
	// Handler is the evidence against the handler that causes the difference, if a report has found it.
	Handler string `json:"handler,omitempty"`
}

// InternalError is a defect in durosim that ended a run.
type InternalError struct {
	Seed uint64 `json:"seed,string"`
	// Text is the panic message. Stack is the call stack, one call per line.
	Text  string `json:"text"`
	Stack string `json:"stack"`
}

// NewInternalError describes a panic. It must be called by the deferred function that recovered the panic.
func NewInternalError(seed uint64, p any) *InternalError {
	stack := string(debug.Stack())
	if guarded, ok := p.(*watchdog.Panic); ok {
		p, stack = guarded.Value, guarded.Stack
	}
	return &InternalError{Seed: seed, Text: fmt.Sprint(p), Stack: strings.TrimSpace(stack)}
}

// Count returns the number of times that point was reached.
func (s *Summary) Count(point string) uint64 {
	i, found := slices.BinarySearchFunc(s.Coverage, point, func(p cluster.Point, name string) int { return strings.Compare(p.Name, name) })
	if !found {
		return 0
	}
	return s.Coverage[i].Count
}

// Missed returns the elements of points that were not reached, in the same order.
func (s *Summary) Missed(points []string) []string {
	missed := []string{}
	for _, p := range points {
		if s.Count(p) == 0 {
			missed = append(missed, p)
		}
	}
	return missed
}

// SeedResult is the outcome of one seed: the result of its run, the digest of a second run if there was one, or a
// defect in durosim. Its JSON is a line of a file of results.
type SeedResult struct {
	Seed   uint64          `json:"seed,string"`
	Result *cluster.Result `json:"result,omitempty"`
	Second *sim.Digest     `json:"second_digest,omitempty"`
	Crash  *InternalError  `json:"internal_error,omitempty"`
}

// Merge summarizes results that were computed elsewhere, such as by several shards. The results must be in ascending
// seed order. If they lack coverage, coverage supplies the totals over all runs.
func Merge(results []SeedResult, coverage Coverage) *Summary {
	m := newMerge(&Options{Count: uint64(len(results)), Shard: Shard{Index: 1, Of: 1}, KeepGoing: true, MaxViolations: defaultMaxViolations})
	for _, r := range results {
		m.add(r)
	}
	for _, p := range coverage {
		m.reach(p)
	}
	return m.summary()
}

// merge accumulates runs in seed order.
type merge struct {
	o       *Options
	sum     Summary
	digests []sim.Digest
	// Indexes by name. The maps are never iterated over, so map order does not matter.
	points     map[string]int
	properties map[string]int
	mistakes   map[[2]string]bool // the causes of each property that were met
}

func newMerge(o *Options) *merge {
	sum := Summary{
		Total: o.total(), Coverage: Coverage{}, Violations: []Violation{}, Drifts: []Drift{}, Internal: []InternalError{},
		Fate: Fate{Ends: []End{}, Help: []HelpGroup{}, Waits: []WaitGroup{}},
	}
	return &merge{o: o, sum: sum, points: map[string]int{}, properties: map[string]int{}, mistakes: map[[2]string]bool{}}
}

// add merges a seed's run and reports whether to continue the campaign.
func (m *merge) add(out SeedResult) (goOn bool) {
	s, r := &m.sum, out.Result
	s.Seeds++
	if r == nil && out.Crash == nil {
		out.Crash = &InternalError{Seed: out.Seed, Text: "the run ended its goroutine"}
	}
	if out.Crash != nil {
		s.Internal = append(s.Internal, *out.Crash)
		m.digests = append(m.digests, sim.Digest{})
		return m.o.KeepGoing
	}
	m.digests = append(m.digests, r.Digest)
	s.Totals.Add(r.Totals)
	for _, p := range r.Coverage {
		m.reach(p)
	}
	if m.o.Ignore != nil {
		known, others := []cluster.Violation{}, []cluster.Violation{}
		for _, v := range r.Violations {
			if m.o.Ignore(out.Seed, v) {
				known = append(known, v)
			} else {
				others = append(others, v)
			}
		}
		r.Violations = others
		markKnown(r, known)
	}
	m.fates(out.Seed, r)
	for _, v := range r.Violations {
		m.violate(Violation{Seed: out.Seed, Violation: v})
	}
	passed := len(r.Violations) == 0
	if out.Second != nil && *out.Second != r.Digest {
		passed = false
		s.Drifts = append(s.Drifts, Drift{Seed: out.Seed, First: r.Digest, Second: *out.Second})
	}
	if passed {
		s.Passed++
	}
	return (passed || m.o.KeepGoing && !out.stuck()) && (m.o.Until == nil || !m.o.Until(r))
}

func (m *merge) reach(p cluster.Point) {
	if p.Count == 0 {
		return
	}
	i, known := m.points[p.Name]
	if !known {
		i = len(m.sum.Coverage)
		m.points[p.Name] = i
		m.sum.Coverage = append(m.sum.Coverage, cluster.Point{Name: p.Name})
	}
	m.sum.Coverage[i].Count += p.Count
}

func (m *merge) violate(v Violation) {
	s := &m.sum
	i, known := m.properties[v.Rule()]
	if !known {
		i = len(s.Properties)
		m.properties[v.Rule()] = i
		s.Properties = append(s.Properties, PropertyCount{Property: v.Property, Class: v.Class, FirstSeed: v.Seed, First: v})
	}
	p := &s.Properties[i]
	p.Violations++
	if p.Seeds == 0 || p.lastSeed != v.Seed {
		p.Seeds++
		p.lastSeed = v.Seed
	}
	mistake := [2]string{v.Rule(), v.Alike()}
	if len(s.Violations) < m.o.MaxViolations || !m.mistakes[mistake] { // another mistake, which the others must not hide
		s.Violations = append(s.Violations, v)
		m.mistakes[mistake] = true
	} else {
		s.Omitted++
	}
}

// last orders what comes last, as a says of one of two and b of the other, behind what does not.
func last(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (m *merge) summary() *Summary {
	s := &m.sum
	s.Fate.finish()
	s.Digest = sim.Fold(m.digests)
	slices.SortFunc(s.Coverage, func(a, b cluster.Point) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Properties, func(a, b PropertyCount) int {
		return cmp.Or(cmp.Compare(a.FirstSeed, b.FirstSeed), last(a.Class == cluster.ClassPlan, b.Class == cluster.ClassPlan),
			cmp.Compare(a.First.Step, b.First.Step), last(a.Class == cluster.ClassLiveness, b.Class == cluster.ClassLiveness),
			strings.Compare(a.First.Rule(), b.First.Rule()))
	})
	return s
}
