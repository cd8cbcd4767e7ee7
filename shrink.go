package durosim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/shrink"
)

// ShrinkOptions specifies what Shrink must preserve, how it runs plans, and how many runs it may make.
type ShrinkOptions struct {
	// Property is the ID of the property that every smaller plan must violate.
	Property string
	// Expectation, if not empty, is the scenario expectation that every smaller plan must violate, as in
	// cluster.Violation.
	Expectation string
	// End, if not empty, is how the instance must end that does not end as planned, as in cluster.Violation.
	End cluster.Ending
	// Cause, if not empty, is why, as in cluster.Violation: what it says is missing, such as a handler, must be missing in
	// every smaller plan, too, and an instance is sent less only if the cause stays as it is. One that waits must wait for
	// the same.
	Cause string
	// Builds, Handlers and EachRun are those that the failing plan ran with, as in Config.
	Builds   func() []*engine.Build
	Handlers func(r *node.Registry, b *engine.Build) error
	EachRun  func() Run
	// Releases starts the nodes that run a released runtime, as in cluster.Config.
	Releases cluster.Releases
	// Store makes the store of each run, as in cluster.Config.
	Store func(startMs int64) (*cluster.ForeignStore, error)
	// MaxRuns limits the number of runs. 0 means 5,000, which takes a few seconds for the built-in scenarios.
	MaxRuns int
	// Stop, if not nil, is called before each run, with the smallest plan so far and the number of runs. If it returns
	// true, the search ends with that plan.
	Stop func(best Concrete, runs int) bool

	_ struct{} // forces keyed literals, because more fields will be added
}

// Concrete is a run without random choices: a plan, plus the choices that the plan leaves open.
type Concrete = shrink.Concrete

// Small is the result of a search for a smaller run.
type Small = shrink.Result

// Shrunk is the result of Shrink: the smallest run found, how many runs the search made, the size of the original plan,
// and whether the result is minimal. In a minimal result, no part can be left out.
type Shrunk struct {
	Small
	// Result is the result of running the smallest plan. First is the first violation of the property in that run.
	Result *cluster.Result
	First  cluster.Violation

	needs   []string // the caller's own handlers that the plan uses
	options ShrinkOptions
}

// Shrink finds a smaller concrete plan that violates the same property. It leaves out parts, rounds times and tries
// fewer faults until no step makes the plan smaller. It returns an error if the plan cannot be run, or if it or the
// smallest does not violate the property again (shrink.ErrHolds).
func Shrink(failing Concrete, o ShrinkOptions) (*Shrunk, error) {
	if o.Property == cluster.PropertyHandlerReturns {
		return nil, fmt.Errorf("%s is not shrunk, since each run would leave code behind that cannot be stopped: replay shows where it is", o.Property)
	}
	if failing.Plan == nil {
		return nil, fmt.Errorf("properties: Shrink without a plan")
	}
	if err := failing.Plan.Validate(Config{Builds: o.Builds, Handlers: o.Handlers, EachRun: o.EachRun}.knownToPlans()); err != nil {
		return nil, err
	}
	var whole *sent // of the first run, which is that of the whole plan
	small, err := shrink.Minimize(failing, shrink.Options{
		MaxRuns: o.MaxRuns, Stop: o.Stop, Ends: o.End != "",
		Fails: func(c shrink.Concrete, chooser sim.Chooser, record *sim.Recording) (bool, error) {
			cfg := o.config(c, chooser)
			cfg.Recording, cfg.Stop = record, o.keeps
			r, err := cluster.Run(cfg)
			if err != nil {
				return false, err
			}
			v, violated := o.first(r)
			if !violated || o.End == "" {
				return violated, nil
			}
			to := sentTo(v.Instance, c.Plan, r)
			if whole == nil {
				whole = &to
			}
			same := v.Cause == o.Cause || len(missingIn(o.Cause)) > 0 // keeps has compared what is missing
			return to.messages >= whole.messages || same && !to.helped && len(missing(to.lost, whole.lost)) == 0, nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Property, err)
	}
	out := &Shrunk{Small: *small, options: o}
	cfg := o.config(small.Concrete, sim.Replay(small.Choices))
	used := &usedHandlers{}
	monitor := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		used.Monitor = monitor(w)
		return used
	}
	if out.Result, err = cluster.Run(cfg); err != nil {
		return nil, err
	}
	again := false
	if out.First, again = o.first(out.Result); !again {
		return nil, fmt.Errorf("the smallest plan of %s %w", failing.Plan.Name, shrink.ErrHolds)
	}
	out.needs = o.own(used.names)
	return out, nil
}

func (o *ShrinkOptions) builds() []*engine.Build {
	if o.Builds == nil {
		return engine.ShippedBuilds()
	}
	return o.Builds()
}

// config returns the configuration for running a candidate.
func (o *ShrinkOptions) config(c shrink.Concrete, chooser sim.Chooser) cluster.Config {
	cfg := cluster.Config{Plan: c.Plan, Seed: c.Choices.Seed, Chooser: chooser, Builds: o.builds(), Releases: o.Releases, Store: o.Store}
	newRun(o.Handlers, o.EachRun).Configure(&cfg, properties.Options{Expectations: c.Expect, SecondJudge: 1})
	return cfg
}

// first returns the first violation of the property that Shrink must keep.
func (o *ShrinkOptions) first(r *cluster.Result) (cluster.Violation, bool) {
	i := slices.IndexFunc(r.Violations, o.keeps)
	if i < 0 {
		return cluster.Violation{}, false
	}
	return r.Violations[i], true
}

// keeps reports whether Shrink must keep a violation.
func (o *ShrinkOptions) keeps(v cluster.Violation) bool {
	return v.Property == o.Property && (o.Expectation == "" || v.Expectation == o.Expectation) && (o.End == "" || v.End == o.End) &&
		(o.Cause == "" || slices.Equal(missingIn(v.Cause), missingIn(o.Cause)) && (!o.waits() || waitIn(v.Cause) == waitIn(o.Cause)))
}

// waits reports whether the instance should have ended, and waits.
func (o *ShrinkOptions) waits() bool {
	return o.End == cluster.StillRunning || o.End == cluster.NeverBegun
}

// waitIn returns what a cause says an instance waits for, without what came of it.
func waitIn(cause string) string {
	_, text, _ := strings.Cut(cause, ": ")
	if i := strings.IndexAny(text, ";,("); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

var missingCode = regexp.MustCompile(`missing: [^\s,;)]+|which it never had`)

// missingIn returns what a cause says is missing, and never was there, without the builds that miss it, which may differ.
func missingIn(cause string) []string {
	list := missingCode.FindAllString(cause, -1)
	slices.Sort(list)
	return slices.Compact(list)
}

// sent is what an instance was sent in a run.
type sent struct {
	messages int
	lost     []string // what nobody took of it
	helped   bool     // whether recovery has sent more
}

func sentTo(instance string, p *plan.Plan, r *cluster.Result) (to sent) {
	for _, in := range p.Instances {
		for _, a := range in.Actions {
			if in.ID == instance && (a.Verb == plan.ActionRaise || a.Verb == plan.ActionEnqueue) {
				to.messages++
			}
		}
	}
	for _, m := range r.Remarks {
		if m.Kind == cluster.RemarkUntaken && m.Instance == instance {
			to.lost = append(to.lost, m.About)
		}
	}
	to.helped = slices.ContainsFunc(r.Help, func(h cluster.Help) bool {
		return h.Name == instance && (h.Kind == cluster.HelpRaise || h.Kind == cluster.HelpEnqueue)
	})
	return to
}

// Entry returns the shrunk run as a stored run, for keeping and replaying. The seed and the note record where the run
// came from.
func (s *Shrunk) Entry(seed uint64, note string) *scenario.Entry {
	var ids []string
	for _, v := range s.Result.Violations {
		ids = append(ids, v.Property)
	}
	found := s.First.Property
	if s.Plan.Profile != "" && s.Plan.Profile != plan.ProfileContract {
		found += " " + string(s.Plan.Profile)
	}
	for _, id := range s.Plan.Bugs {
		found += " " + string(id)
	}
	provider := ""
	if s.options.Store != nil {
		provider = "Config.Store"
	}
	return &scenario.Entry{
		Plan: s.Plan, Expect: s.Expect, Recording: s.Choices, Seed: seed, Mode: scenario.ModeRecorded,
		Found: found, Verdict: scenario.Violates(ids...), Digest: s.Result.Digest.String(), Needs: s.needs, Provider: provider, Note: note,
	}
}

// own returns those of the names that belong to the caller's handlers, sorted. It returns nil if the handlers are the
// shipped ones.
func (o *ShrinkOptions) own(names []string) []string {
	handlers := newRun(o.Handlers, o.EachRun).Handlers
	if handlers == nil {
		return nil
	}
	own := map[string]bool{} // never iterated over, so map order does not matter
	for _, b := range o.builds() {
		r := node.NewRegistry()
		if handlers(r, b) != nil {
			continue // the plan does not run that build; otherwise it would already have failed
		}
		for _, name := range slices.Concat(r.Orchestrations(), r.Activities()) {
			own[name] = true
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !own[name] })
	slices.Sort(names)
	return slices.Compact(names)
}

// usedHandlers is a monitor that also records which orchestrations begin and which activities are requested.
type usedHandlers struct {
	cluster.Monitor
	names []string
}

// WatchHandle implements cluster.HandleWatcher by forwarding to the monitor if it can.
func (u *usedHandlers) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(u.Monitor, p, codec)
}

func (u *usedHandlers) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.InstanceCreated:
		u.names = append(u.names, o.Name+"@"+o.Token)
	case observe.RowInserted:
		if item, ok := o.Item.(engine.ActivityExecuteItem); ok {
			u.names = append(u.names, item.Name)
		}
	}
	u.Monitor.Observe(o)
}
