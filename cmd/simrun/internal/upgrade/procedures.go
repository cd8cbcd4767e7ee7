package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Procedures compares the ways in which a plan's upgrade can be rolled out.
type Procedures struct {
	Scenario string `json:"scenario"`
	First    uint64 `json:"first_seed"`
	Seeds    uint64 `json:"seeds"`
	// Nodes are those that are upgraded, each with the build that it has then. To is the build on which all end, and
	// Bridge that of the first phase of two, if one is declared.
	Nodes  []string `json:"nodes"`
	To     string   `json:"to"`
	Bridge string   `json:"bridge,omitempty"`
	// Before lists the plan's steps before the roll-out, which each procedure keeps, and LeftOut those that none has.
	Before  []string `json:"preparation,omitempty"`
	LeftOut []string `json:"left_out,omitempty"`
	// LastMs is when the last work of the first seed starts. Ways back from later steps leave too little behind.
	LastMs int64 `json:"last_start_ms"`
	// Stay is the effect of the preparation alone.
	Stay Effect `json:"no_step"`
	// Rows lists the procedures, best first, and those that cannot be tried last.
	Rows []Procedure `json:"procedures"`
	// Sentence says which to choose, or how far the comparison came before it was interrupted.
	Sentence    string `json:"sentence"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

// Procedure is a way to roll out an upgrade, with its effect. What it lets wait includes the starts that it
// holds back, and what is in flight while no node is up.
type Procedure struct {
	Name string `json:"name"`
	// Lacks says why the procedure cannot be tried. The other fields are then empty.
	Lacks string `json:"lacks,omitempty"`
	// Steps lists its steps in the first seed, without those of the preparation. TakesMs is the longest time from when
	// it begins to its last step, and Took what was in flight when it began.
	Steps   []Timed `json:"steps"`
	TakesMs int64   `json:"takes_ms"`
	Took    Took    `json:"in_flight"`
	varies  bool    // when the steps are taken differs by seed
	lastMs  int64   // Procedures.LastMs
	// NoReturn is the first step after which a way back leaves something behind, or does not exist: NoReturn.Step is 0
	// if there is none. TriedMs is how long a new build has run by then in the first seed, or -1 if there is none.
	NoReturn NoReturn `json:"no_return"`
	TriedMs  int64    `json:"tried_ms"`
	Effect
}

// Timed is a step, and when it is taken.
type Timed struct {
	AtMs int64  `json:"at_ms"`
	Step string `json:"step"`
}

// NoReturn is a procedure's point of no return.
type NoReturn struct {
	// Step counts from 1. Back is the effect of the way back to where the procedure began. Barred says why no node
	// starts as its old build, or "".
	Step   int    `json:"step"`
	Barred string `json:"barred,omitempty"`
	Back   Effect `json:"back"`
}

// Took describes what was in flight when a procedure began, over all seeds. It does not count what goes on for ever,
// and what ends only with the help of recovery.
type Took struct {
	// Left counts the instances that did not end, or only by rescue. LongestMs is how long after that the last of the rest
	// ended: Example, in ExampleSeed's run.
	LongestMs   int64  `json:"longest_ms"`
	Example     string `json:"example"`
	ExampleSeed uint64 `json:"example_seed,string"`
	Left        uint64 `json:"left"`
}

// compare compares by how long what was in flight took to end. What did not end took longest.
func (t *Took) compare(o *Took) int {
	return cmp.Or(cmp.Compare(t.Left, o.Left), cmp.Compare(t.LongestMs, o.LongestMs))
}

// add adds the run r of plan p, which apply has changed.
func (t *Took) add(p *plan.Plan, r *cluster.Result) {
	from := began(p)
	for i := range p.Instances {
		f, in := &r.Fates[i], &p.Instances[i]
		after := f.EndedMs - from.Milliseconds()
		switch {
		case in.StartAt > from || in.Expect == plan.EndEternal || f.EndedMs > 0 && after <= 0:
		case deletedByRescue(r, f) || f.Rescued || f.End == cluster.StillRunning && !in.Existing:
			t.Left++
		case f.Owes == "" && after > t.LongestMs:
			t.LongestMs, t.Example, t.ExampleSeed = after, f.Instance, r.Seed
		}
	}
}

// procedure changes p, seed's plan, into one with the procedure, for a run of its own. back, if not 0, is the number of
// steps to take before going back.
func (c *Config) procedure(p *plan.Plan, seed uint64, name string, back int, builds []*engine.Build) error {
	r, err := rolloutOf(c.Scenario, builds)
	if err != nil {
		return err
	}
	if why := r.lacks(name); why != "" {
		return errors.New(why)
	}
	if name == drain {
		one := *c
		one.First, one.Seeds, one.Context = seed, 1, nil
		if err := r.measure(&one); err != nil {
			return err
		}
	}
	before, pause := r.apply(p, name, seed)
	if n := len(Steps(p)) - before; back > n {
		return fmt.Errorf("the procedure has %d steps", n)
	}
	if back > 0 {
		c.backTo(p, before, before+back, pause, 0, builds)
	}
	return nil
}

// measure finds out how long the work in flight takes to end if nothing else starts and no step is taken. Faults go on
// for as long as they do in the plan, and longer.
func (r *rollout) measure(c *Config) error {
	alone := trial{cfg: c, change: func(p *plan.Plan, seed uint64) {
		r.apply(p, "", seed)
		from := began(p)
		p.FaultPhase = max(p.FaultPhase, from, LastAction(p)) + time.Minute
		p.Instances = slices.DeleteFunc(p.Instances, func(in plan.Instance) bool { return !in.Existing && in.StartAt >= from })
	}}
	_, err := alone.run(c.Seeds, func(p *plan.Plan, res *cluster.Result) {
		var t Took
		t.add(p, res)
		r.drained[res.Seed] = time.Duration(t.LongestMs+1000) * time.Millisecond
	})
	return err
}

// lastStart returns when the last work starts.
func lastStart(p *plan.Plan) (at time.Duration) {
	for i := range p.Instances {
		at = max(at, p.Instances[i].StartAt)
	}
	return at
}

// LastAction returns when clients have done all that they do.
func LastAction(p *plan.Plan) time.Duration {
	at := lastStart(p)
	for i := range p.Instances {
		for k := range p.Instances[i].Actions {
			at = max(at, p.Instances[i].Actions[k].At)
		}
	}
	return at
}

// TryProcedures tries the ways in which the plan's upgrade can be rolled out, with the plan's nodes, builds, load and
// store. It returns an error with its place in the scenario if the nodes do not end on one build.
func TryProcedures(c Config) (*Procedures, error) {
	first, builds, err := c.planned(c.First)
	if err != nil {
		return nil, err
	}
	r, err := rolloutOf(c.Scenario, builds)
	if err != nil {
		return nil, err
	}
	out := &Procedures{Scenario: c.Scenario.Name, First: c.First, Seeds: c.Seeds, To: r.to.Name(), Bridge: r.bridge, Before: r.before, LeftOut: r.others, Rows: []Procedure{}}
	out.LastMs = lastStart(first).Milliseconds()
	for _, n := range r.nodes {
		out.Nodes = append(out.Nodes, n.name+" from "+n.build)
	}
	if err := out.run(&c, r, builds); errors.Is(err, context.Canceled) {
		out.Interrupted, out.Sentence = true, fmt.Sprintf("Interrupted after %d of %d procedures: there is nothing to choose yet.", len(out.Rows), len(procedures))
		return out, nil
	} else if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.Rows, func(a, b Procedure) int { return a.compare(&b) })
	out.Sentence = out.sentence()
	return out, nil
}

// run adds a row for each procedure.
func (out *Procedures) run(c *Config, r *rollout, builds []*engine.Build) (err error) {
	stay := trial{cfg: c, change: func(p *plan.Plan, seed uint64) { r.apply(p, "", seed) }}
	if out.Stay, err = stay.effect(nil); err != nil {
		return err
	}
	if err := r.measure(c); err != nil {
		return err
	}
	for i, name := range procedures {
		row := Procedure{Name: name, Lacks: r.lacks(name), Steps: []Timed{}, lastMs: out.LastMs}
		if row.Lacks == "" {
			if err := row.try(c, r, builds, &out.Stay); err != nil {
				return err
			}
		}
		out.Rows = append(out.Rows, row)
		if c.OnProgress != nil {
			c.OnProgress(uint64(i+1)*c.Seeds, uint64(len(procedures))*c.Seeds)
		}
	}
	return nil
}

// try tries the whole procedure, and ways back up to the first that leaves something behind: from each step that
// another does not follow at once.
func (row *Procedure) try(c *Config, r *rollout, builds []*engine.Build, stay *Effect) error {
	first, err := c.Plan(c.First)
	if err != nil {
		return err
	}
	before, _ := r.apply(first, row.Name, c.First)
	steps, newAt := Steps(first)[before:], time.Duration(-1)
	for i := range steps {
		row.Steps = append(row.Steps, Timed{steps[i].At.Milliseconds(), steps[i].String()})
		if newAt < 0 && r.brings(first, &steps[i]) {
			newAt = steps[i].At
		}
	}
	row.since = stay
	whole := trial{cfg: c, change: func(p *plan.Plan, seed uint64) { r.apply(p, row.Name, seed) }}
	if _, err := whole.run(c.Seeds, func(p *plan.Plan, res *cluster.Result) {
		row.Took.add(p, res)
		all := Steps(p)
		row.TakesMs = max(row.TakesMs, (all[len(all)-1].At - began(p)).Milliseconds())
		row.varies = row.varies || !slices.EqualFunc(all[before:], steps, func(a, b plan.Step) bool { return a.At == b.At })
		if planned, err := c.Plan(res.Seed); err == nil {
			res.Waits = append(res.Waits, row.stoodStill(planned, p, res)...)
		}
		row.Effect.add(c.Snapshot, p, res)
	}); err != nil {
		return err
	}
	for k := 1; k <= len(steps); k++ {
		if k < len(steps) && steps[k].At == steps[k-1].At {
			continue
		}
		back := trial{cfg: c, change: func(p *plan.Plan, seed uint64) {
			before, pause := r.apply(p, row.Name, seed)
			c.backTo(p, before, before+k, pause, 0, builds)
		}}
		e, err := back.effect(stay)
		if err != nil {
			return err
		}
		if bar := barred(first, before, before+k, builds); bar != "" || e.leaves() {
			row.NoReturn, row.TriedMs = NoReturn{Step: k, Barred: bar, Back: e}, max(steps[k-1].At-newAt, 0).Milliseconds()
			return nil
		}
	}
	row.TriedMs = -1
	return nil
}

// stoodStill returns the waits that are not for a build: of clients that begin later than planned, and of what is in
// flight while no node is up.
func (row *Procedure) stoodStill(planned, p *plan.Plan, r *cluster.Result) (waits []cluster.Wait) {
	wait := func(i int, from, until time.Duration) {
		in, f := &p.Instances[i], &r.Fates[i]
		if from < until && (f.EndedMs == 0 || f.EndedMs > from.Milliseconds()) {
			waits = append(waits, cluster.Wait{Instance: in.ID, Pin: pinOf(r, in.ID, i), FromMs: from.Milliseconds(), ForMs: (until - from).Milliseconds()})
		}
	}
	all := Steps(p)
	for i := range p.Instances {
		start := p.Instances[i].StartAt
		if wait(i, planned.Instances[i].StartAt, start); row.Name == stopAll {
			wait(i, max(began(p), start), all[len(all)-1].At)
		}
	}
	return waits
}

// compare ranks procedures: by what they violate, lose and strand, by the magnitude of what they let wait, by how long
// a new build runs before the point of no return, and by how long what was in flight takes to end.
func (row *Procedure) compare(o *Procedure) int {
	if (row.Lacks == "") != (o.Lacks == "") {
		return cmp.Compare(len(row.Lacks), len(o.Lacks))
	}
	return cmp.Or(row.loses(&o.Effect), cmp.Compare(bits.Len64(uint64(row.MostWaitedMs)), bits.Len64(uint64(o.MostWaitedMs))), cmp.Compare(uint64(o.TriedMs), uint64(row.TriedMs)),
		row.Took.compare(&o.Took))
}

// Remarkable returns a run that shows the worst of the best procedure, or its way back: its variant, in the form
// accepted by One, its seed, and an instance in it.
func (out *Procedures) Remarkable() (variant string, seed uint64, instance string) {
	if out.Interrupted {
		return "", 0, ""
	}
	row := &out.Rows[0]
	back := &row.NoReturn.Back.fresh
	for _, c := range []*Count{&row.Lost, &row.Stranded, &back.Stranded, &back.Lost, &row.Waited} {
		if c.Total > 0 && c.Example != "" {
			variant = row.Name
			if c == &back.Stranded || c == &back.Lost {
				variant = fmt.Sprintf("%s/back-%d", row.Name, row.NoReturn.Step)
			}
			return variant, c.ExampleSeed, c.Example
		}
	}
	return "", 0, ""
}

// sentence says which procedure to choose.
func (out *Procedures) sentence() string {
	best := &out.Rows[0]
	late, others, tried := best, []string{}, best.TriedMs != 0
	for i := range out.Rows[1:] {
		row := &out.Rows[1+i]
		if row.Lacks != "" {
			continue
		}
		others, tried = append(others, row.Name+" "+row.against(best)), tried || row.TriedMs != 0
		if row.loses(&best.Effect) <= 0 && uint64(row.TriedMs) > uint64(late.TriedMs) { // -1 is the longest
			late = row
		}
	}
	text := fmt.Sprintf("Choose %s: it %s. %s.", best.Name, best.does(), pretty.Capital(strings.Join(others, "; ")))
	switch {
	case !tried:
		text += " None of them leaves a way back once a node has run " + out.To + "."
	case late != best:
		text += fmt.Sprintf(" If you may have to go back, choose %s: it %s.", late.Name, late.wayBack())
	}
	return text
}
