package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Overrides replace parts of a scenario. The zero value replaces nothing.
type Overrides struct {
	// Faults, if not nil, replaces the scenario's faults; NamedFaults returns a fault plan by name.
	Faults *faults.Plan
	// Profile and Strategy, if not empty, replace those of the scenario.
	Profile  plan.Profile
	Strategy plan.Strategy
	// Contract, if not empty, replaces the scenario's contract.
	Contract string
	// CallersClock, if not nil, sets whether the store uses its callers' clocks.
	CallersClock *bool
	// Bugs, if not nil, replaces the scenario's bugs.
	Bugs []faults.BugID
	// Instances, if not 0, replaces the number of instances in the load. It is an error if the scenario has no load.
	Instances int
	// StepBudget, if not 0, replaces the scenario's step budget.
	StepBudget uint64
	// Input, if not nil, makes the input of each instance from the one that is written or drawn. It must depend on its
	// arguments alone.
	Input func(orchestration, input string) string
}

// Segments for the keys of draws.
var (
	labelExpand  = sim.NewLabel("expand")
	labelStep    = sim.NewLabel("step")
	labelAbout   = sim.NewLabel("about")
	labelNth     = sim.NewLabel("nth")
	labelFor     = sim.NewLabel("for")
	labelInst    = sim.NewLabel("instance")
	labelHist    = sim.NewLabel("history")
	labelProbe   = sim.NewLabel("probe")
	labelAction  = sim.NewLabel("action")
	labelLoad    = sim.NewLabel("load")
	labelMix     = sim.NewLabel("mix")
	labelStart   = sim.NewLabel("start")
	labelInput   = sim.NewLabel("input")
	labelInputOf = sim.NewLabel("input-of")
)

// Expand draws what the scenario leaves open. The plan depends only on the scenario, the seed and the overrides, and
// shares nothing with the scenario. Each draw is keyed by the name of its subject: a step by its verb, its object and
// the number of similar steps before it, and an instance of the load by its number. Adding a step, node or instance
// therefore does not change other draws. If an action is drawn before the start of its instance, it is moved to the
// start. Expand returns an error if the scenario was not made by Parse, or if o is invalid.
func (s *Scenario) Expand(seed uint64, o Overrides) (*plan.Plan, error) {
	if err := s.validate(o); err != nil {
		return nil, err
	}
	e := &expansion{s: s, chooser: sim.Random(seed), root: sim.RootKey(false).At(labelExpand), plan: s.Template.Clone()}
	e.plan.Name = s.Name
	e.steps()
	e.instances()
	for i := range e.plan.Histories {
		h := &e.plan.Histories[i]
		if d, open := s.drawOf(openKick, i, 0); open {
			h.KickAt = e.between(e.root.Name(labelHist, h.Instance), d.Lo, d.Hi)
		}
	}
	for i := range e.plan.Probes {
		b := &e.plan.Probes[i]
		if d, open := s.drawOf(openProbe, i, 0); open {
			b.From = e.between(e.root.Name(labelProbe, b.Name), d.Lo, d.Hi)
		}
	}
	if s.Load != nil {
		e.load(o)
	}
	if o.Faults != nil {
		e.plan.Faults.Rates = slices.Clone(o.Faults.Rates)
	}
	e.plan.Profile, e.plan.Strategy = cmp.Or(o.Profile, e.plan.Profile), cmp.Or(o.Strategy, e.plan.Strategy)
	e.plan.Contract, e.plan.StepBudget = cmp.Or(o.Contract, e.plan.Contract), cmp.Or(o.StepBudget, e.plan.StepBudget)
	if o.CallersClock != nil {
		e.plan.Store.CallersClock = *o.CallersClock
	}
	if o.Bugs != nil {
		e.plan.Bugs = slices.Clone(o.Bugs)
	}
	if o.Input != nil {
		return e.plan, makeInputs(e.plan, o.Input)
	}
	return e.plan, nil
}

func makeInputs(p *plan.Plan, input func(orchestration, input string) string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the function Input panicked at %s: %v", watchdog.PanickedAt(), r)
		}
	}()
	for i := range p.Instances {
		p.Instances[i].Input = input(p.Instances[i].Orchestration, p.Instances[i].Input)
	}
	return nil
}

// validate returns an error if the scenario or the overrides make it impossible to draw a plan.
func (s *Scenario) validate(o Overrides) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("scenario %s: %s", s.Name, fmt.Sprintf(format, args...))
	}
	for _, name := range []struct {
		what, have string
		known      []string
	}{{"profile", string(o.Profile), profiles}, {"contract", o.Contract, contracts()}, {"strategy", string(o.Strategy), strategies}} {
		if name.have != "" && !slices.Contains(name.known, name.have) {
			return fail("unknown %s %q: expected %s", name.what, name.have, orList(name.known))
		}
	}
	if o.Instances < 0 || o.Instances > maxLoad {
		return fail("%d instances: expected at most %d", o.Instances, maxLoad)
	}
	for _, d := range s.open {
		if !d.valid() || !d.in(&s.Template) {
			return fail("draw %+v: expected a time of the template, and a range that does not end before it begins", d)
		}
	}
	if !slices.IsSortedFunc(s.open, compareDraws) {
		return fail("draws: expected them sorted")
	}
	if s.Load == nil {
		if o.Instances != 0 {
			return fail("%d instances: expected none, since there is no load", o.Instances)
		}
		return nil
	}
	weights := uint64(0)
	for _, m := range s.Load.Mix {
		weights += uint64(m.Weight)
		for _, input := range m.inputs() {
			if _, err := parseInputRange(input); err != nil {
				return fail("%v", err)
			}
		}
		for _, a := range m.Actions {
			if d := (openTime{Lo: a.Lo, Hi: a.Hi}); !d.valid() {
				return fail("mix %s: action from %v to %v: the range ends before it begins", m.Orchestration, a.Lo, a.Hi)
			}
		}
	}
	if weights == 0 {
		return fail("the load has no mix")
	}
	if d := (openTime{Lo: s.Load.From, Hi: s.Load.From + s.Load.Over}); !d.valid() {
		return fail("load over %v: expected a duration", s.Load.Over)
	}
	return nil
}

func (d openTime) valid() bool { return d.Lo >= 0 && d.Hi >= d.Lo && d.Hi <= 2*maxTime }

// in reports whether the plan has the field for which d draws a value.
func (d openTime) in(p *plan.Plan) bool {
	n := map[openOf]int{
		openStep: len(p.Schedule), openFor: len(p.Schedule), openStart: len(p.Instances), openAction: len(p.Instances),
		openKick: len(p.Histories), openProbe: len(p.Probes),
	}[d.Of]
	if d.Index < 0 || d.Index >= n || d.Relative && d.Of == openStep && d.Index == 0 {
		return false
	}
	return d.Of != openAction || d.Action >= 0 && d.Action < len(p.Instances[d.Index].Actions)
}

func (s *Scenario) drawOf(of openOf, index, action int) (openTime, bool) {
	i, found := slices.BinarySearchFunc(s.open, openTime{Of: of, Index: index, Action: action}, compareDraws)
	if !found {
		return openTime{}, false
	}
	return s.open[i], true
}

type expansion struct {
	s       *Scenario
	chooser sim.Chooser
	root    sim.Key
	plan    *plan.Plan
}

// between draws a time in whole milliseconds, because people read plans.
func (e *expansion) between(k sim.Key, lo, hi time.Duration) time.Duration {
	return lo + time.Duration(e.chooser.Choose(k, uint64((hi-lo)/time.Millisecond)+1))*time.Millisecond
}

func (e *expansion) steps() {
	for i := range e.plan.Schedule {
		s := &e.plan.Schedule[i]
		about := s.Node + s.Mark
		key := e.root.Name(labelStep, string(s.Verb)).Name(labelAbout, about)
		nth := uint64(0)
		for _, before := range e.plan.Schedule[:i] {
			if before.Verb == s.Verb && before.Node+before.Mark == about {
				nth++
			}
		}
		key = key.Num(labelNth, nth)
		if d, open := e.s.drawOf(openStep, i, 0); open {
			s.At = e.between(key, d.Lo, d.Hi)
			if d.Relative {
				s.At += e.plan.Schedule[i-1].At
			}
		}
		if d, open := e.s.drawOf(openFor, i, 0); open {
			s.For = e.between(key.At(labelFor), d.Lo, d.Hi)
		}
	}
}

func (e *expansion) instances() {
	for i := range e.plan.Instances {
		in := &e.plan.Instances[i]
		key := e.root.Name(labelInst, in.ID)
		d, startOpen := e.s.drawOf(openStart, i, 0)
		if startOpen {
			in.StartAt = e.between(key.At(labelStart), d.Lo, d.Hi)
		}
		for j := range in.Actions {
			d, open := e.s.drawOf(openAction, i, j)
			if open {
				in.Actions[j].At = e.between(actionKey(key, in.Actions[:j+1]), d.Lo, d.Hi)
			}
			if d.Relative {
				in.Actions[j].At += in.StartAt
			}
			if open || startOpen {
				in.Actions[j].At = max(in.Actions[j].At, in.StartAt)
			}
		}
	}
}

func actionKey(instance sim.Key, actions []plan.Action) sim.Key {
	last, nth := actions[len(actions)-1], uint64(0)
	for _, a := range actions[:len(actions)-1] {
		if a.Verb == last.Verb && a.Name == last.Name {
			nth++
		}
	}
	return instance.Name(labelAction, string(last.Verb)).Name(labelAbout, last.Name).Num(labelNth, nth)
}

func (e *expansion) load(o Overrides) {
	l, count := e.s.Load, cmp.Or(o.Instances, e.s.Load.Count)
	weights := make([]uint32, len(l.Mix))
	for i, m := range l.Mix {
		weights[i] = m.Weight
	}
	for i := range count {
		key := e.root.Num(labelLoad, uint64(i+1))
		m := l.Mix[sim.Pick(e.chooser, key.At(labelMix), weights)]
		in := plan.Instance{
			ID: m.Orchestration + "-" + strconv.Itoa(i+1), Orchestration: m.Orchestration, Version: m.Version,
			Input: e.input(key, m.inputs()), StartAt: e.between(key.At(labelStart), l.From, l.From+l.Over), Expect: m.Expect, Unaided: m.Unaided,
		}
		if m.Generated {
			e.generate(&in, key)
		}
		for _, t := range m.Actions {
			in.Actions = append(in.Actions, t.Action)
			a := &in.Actions[len(in.Actions)-1]
			a.At = e.between(actionKey(key, in.Actions), t.Lo, t.Hi)
			if t.Relative {
				a.At += in.StartAt
			}
			a.At = max(a.At, in.StartAt)
		}
		e.plan.Instances = append(e.plan.Instances, in)
	}
}

// names reports whether the load may use the name id for an instance of the orchestration.
func (l *Load) names(orchestration, id string) bool {
	number, ok := strings.CutPrefix(id, orchestration+"-")
	n, err := strconv.Atoi(number)
	return ok && err == nil && n >= 1 && n <= maxLoad && strconv.Itoa(n) == number
}

// inputRange is a range of inputs; the zero value means no range.
type inputRange struct {
	lo, hi uint64
	// times means that lo and hi are milliseconds.
	times, ok bool
}

func (r inputRange) text(n uint64) string {
	if r.times {
		return (time.Duration(n) * time.Millisecond).String()
	}
	return strconv.FormatUint(n, 10)
}

// parseInputRange parses "2..6" or "1s..8s". Any other text gives no range, and an error only if it looks like a range.
func parseInputRange(s string) (inputRange, error) {
	from, to, ok := strings.Cut(s, "..")
	if !ok {
		return inputRange{}, nil
	}
	r := inputRange{ok: true}
	lo, errLo := strconv.ParseUint(from, 10, 32)
	hi, errHi := strconv.ParseUint(to, 10, 32)
	if errLo != nil || errHi != nil {
		low, errLow := time.ParseDuration(from)
		high, errHigh := time.ParseDuration(to)
		if isLow, isHigh := errLo == nil || errLow == nil, errHi == nil || errHigh == nil; from == "" && isHigh || isLow && to == "" {
			return inputRange{}, fmt.Errorf("input %q: a range has two ends, as in 1..9 or 1s..8s", s)
		}
		if errLow != nil || errHigh != nil || low < 0 || high < 0 || low%time.Millisecond != 0 || high%time.Millisecond != 0 {
			return inputRange{}, nil
		}
		lo, hi, r.times = uint64(low/time.Millisecond), uint64(high/time.Millisecond), true
	}
	if hi < lo {
		return inputRange{}, fmt.Errorf("input %q: the range ends before it begins", s)
	}
	r.lo, r.hi = lo, hi
	return r, nil
}

func (e *expansion) input(key sim.Key, of []string) string {
	s := of[0]
	if len(of) > 1 {
		s = of[e.chooser.Choose(key.At(labelInputOf), uint64(len(of)))]
	}
	r, _ := parseInputRange(s) // malformed ranges were rejected by validate
	if !r.ok {
		return s
	}
	return r.text(r.lo + e.chooser.Choose(key.At(labelInput), r.hi-r.lo+1))
}
