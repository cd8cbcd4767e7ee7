package durosim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// Run holds what belongs to a single run: handlers, checks in addition to properties.Catalogue, and the state
// that they share. A function that makes a Run declares that state as local variables. So a ledger that activities
// write and invariants read is empty at the start of each run.
type Run struct {
	// Applications are the versions of the code under test, as in Config, made anew for this run. Each run must have the
	// same versions.
	Applications []Application
	// Handlers replaces Config.Handlers unless it is nil.
	Handlers func(r *node.Registry, b *engine.Build) error
	// Invariants are the caller's own properties.
	Invariants []Invariant
	// Monitor, if not nil, returns a monitor that watches everything that happens in the run. Its violations are
	// reported under the IDs that it gives them: each a single word, and none of properties.Catalogue.
	Monitor func(w *cluster.World) cluster.Monitor

	counted bool // whether the coverage of a run has what each application runs

	_ struct{} // forces keyed literals, because more fields will be added
}

// Invariant is a property that the caller defines. Either function may be nil. Their results must depend only on the
// run; otherwise a seed cannot be repeated.
type Invariant struct {
	// Name is the property's ID in reports and seeds. It must be a single word, such as "money-is-conserved", and
	// none that durosim uses (properties.Reported).
	Name string
	// Statement is the rule in one sentence, for reports.
	Statement string
	// Always is called after each step of the run. The first error that it returns is reported as a violation; after
	// that, it is not called again. Of makes an error name its instance.
	Always func() error
	// AtEnd is called once, after the last step, with the outcomes of the plan's instances, in the plan's order. An
	// error is reported as a violation.
	AtEnd func(ends []cluster.FinalState) error
}

func (r Run) validate() error {
	seen := map[string]bool{} // never iterated over, so map order does not matter
	for _, i := range r.Invariants {
		switch {
		case !isWord(i.Name):
			return fmt.Errorf("the name of an invariant is %s, not %q", aWord, i.Name)
		case seen[i.Name]:
			return fmt.Errorf("two invariants are called %q", i.Name)
		case i.Name == ownMonitor || properties.Reported(i.Name):
			return fmt.Errorf("an invariant cannot be called %q: durosim reports under that name itself", i.Name)
		case i.Always == nil && i.AtEnd == nil:
			return fmt.Errorf("invariant %q checks nothing: it has neither Always nor AtEnd", i.Name)
		}
		seen[i.Name] = true
	}
	return nil
}

const aWord = "one word of letters, digits, - and _" // others cannot be read again in a stored run

func isWord(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return s != ""
}

// Configure sets the handlers and the monitor of one run. The monitor checks the properties that o selects and the
// invariants that r adds.
func (r Run) Configure(cfg *cluster.Config, o properties.Options) {
	cfg.Handlers = r.Handlers
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		m := properties.New(w, o)
		if len(r.Invariants) == 0 && r.Monitor == nil && !r.counted {
			return m
		}
		j := &joined{Monitor: m, w: w, invariants: slices.Clone(r.Invariants), counted: r.counted}
		if r.Monitor != nil {
			j.tell(func(cluster.Monitor) { j.own = r.Monitor(w) })
		}
		return j
	}
}

// called calls a function of the user's and returns its error. If it panics, the error says so, with its place.
func called(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked at %s: %v", what, watchdog.PanickedAt(), p)
		}
	}()
	return f()
}

// newRun returns the parts of the next run. Either function may be nil. If one panics, the run's handlers return that as
// an error.
func newRun(handlers func(r *node.Registry, b *engine.Build) error, eachRun func() Run) Run {
	var run Run
	if eachRun != nil {
		if err := called("Config.EachRun", func() error { run = eachRun(); return nil }); err != nil {
			run.Handlers = func(*node.Registry, *engine.Build) error { return err }
		}
	}
	if run.Handlers == nil {
		run.Handlers = handlers
	}
	if register := run.Handlers; register != nil {
		run.Handlers = func(r *node.Registry, b *engine.Build) error {
			return called("their registration", func() error { return register(r, b) })
		}
	}
	return run
}

// joined is a monitor combined with the caller's own checks.
type joined struct {
	cluster.Monitor
	w          *cluster.World
	own        cluster.Monitor // nil if the caller has no monitor
	invariants []Invariant
	violations []cluster.Violation
	counted    bool
	ran        []cluster.Point
}

// ownMonitor is the property that the caller's monitor itself violates.
const ownMonitor = "own-monitor"

// tell calls the caller's monitor. If it panics, that is a violation, and it is not called again.
func (j *joined) tell(f func(own cluster.Monitor)) {
	if err := called("Run.Monitor", func() error { f(j.own); return nil }); err != nil {
		j.violate(Invariant{Name: ownMonitor}, err)
		j.own = nil
	}
}

func (j *joined) Observe(o *observe.Observation) {
	j.Monitor.Observe(o)
	if j.own != nil {
		j.tell(func(own cluster.Monitor) { own.Observe(o) })
	}
}

func (j *joined) Told() (told cluster.Told) {
	if t, ok := j.Monitor.(cluster.FateTeller); ok {
		told = t.Told()
	}
	return told
}

func (j *joined) Record(r *cluster.Record) {
	j.Monitor.Record(r)
	if j.counted && (r.Kind == record.ActivityStarted || r.Kind == record.Note && r.Note.Turn != nil) {
		j.count(ranBy(j.w.Node(r.Node).Build))
	}
	if j.own != nil {
		j.tell(func(own cluster.Monitor) { own.Record(r) })
	}
}

// ranBy is the coverage point of code that nodes with a build run.
func ranBy(b *engine.Build) string { return "application " + b.Application }

func (j *joined) count(point string) {
	for i := range j.ran {
		if j.ran[i].Name == point {
			j.ran[i].Count++
			return
		}
	}
	j.ran = append(j.ran, cluster.Point{Name: point, Count: 1})
}

func (j *joined) AfterStep() {
	j.Monitor.AfterStep()
	if j.own != nil {
		j.tell(cluster.Monitor.AfterStep)
	}
	for i := range j.invariants {
		if in := &j.invariants[i]; in.Always != nil {
			if err := called("the invariant", in.Always); err != nil {
				j.violate(*in, err)
				in.Always = nil
			}
		}
	}
}

func (j *joined) Open(nowMs int64) (open bool, untilMs int64) {
	open, untilMs = j.Monitor.Open(nowMs)
	if j.own != nil {
		j.tell(func(own cluster.Monitor) {
			if ownOpen, ownUntilMs := own.Open(nowMs); ownOpen {
				open, untilMs = true, max(untilMs, ownUntilMs)
			}
		})
	}
	return open, untilMs
}

func (j *joined) Finish() {
	j.Monitor.Finish()
	if j.own != nil {
		j.tell(cluster.Monitor.Finish)
	}
	ends := j.w.FinalStates()
	for _, in := range j.invariants {
		if in.AtEnd != nil {
			if err := called("the invariant", func() error { return in.AtEnd(slices.Clone(ends)) }); err != nil {
				j.violate(in, err)
			}
		}
	}
}

func (j *joined) violate(in Invariant, err error) {
	var about instanceError
	errors.As(err, &about)
	j.violations = append(j.violations, cluster.Violation{
		Property: in.Name, Class: cluster.ClassSafety, Step: j.w.Step(), VirtualMs: j.w.NowMs() - j.w.StartMs(), Instance: about.instance, Message: err.Error(),
		Statement: in.Statement,
	})
}

// Of returns err with the instance that it is about, which the report of a violated Invariant then names. It returns nil
// for nil.
func Of(instance string, err error) error {
	if err == nil {
		return nil
	}
	return instanceError{err, instance}
}

type instanceError struct {
	error
	instance string
}

func (e instanceError) Unwrap() error { return e.error }

// Violations implements cluster.Monitor: it returns all violations in the order in which they were found.
func (j *joined) Violations() []cluster.Violation {
	all := slices.Concat(j.Monitor.Violations(), j.violations)
	if j.own != nil {
		for _, v := range j.own.Violations() {
			must := ""
			_, taken := properties.ByID(v.Property)
			switch {
			case !isWord(v.Property):
				must = aWord
			case taken:
				must = "none of properties.Catalogue"
			}
			if must != "" {
				v.Message = fmt.Sprintf("Run.Monitor calls a property %q; its name must be %s. It says: %s", v.Property, must, v.Message)
				v.Property = ownMonitor
			}
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b cluster.Violation) int { return cmp.Compare(a.Step, b.Step) })
	return all
}

func (j *joined) Coverage() []cluster.Point {
	all := slices.Concat(j.Monitor.Coverage(), j.ran)
	if j.own != nil {
		all = append(all, j.own.Coverage()...)
	}
	slices.SortFunc(all, func(a, b cluster.Point) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// WatchHandle implements cluster.HandleWatcher and passes the handle to every monitor that implements it.
func (j *joined) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(j.own, cluster.WatchHandle(j.Monitor, p, codec), codec)
}
