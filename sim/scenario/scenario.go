package scenario

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// Scenario is a plan, or a family of plans that differ only in the values drawn from the seed.
type Scenario struct {
	// Name is the name given in the text or, without one, the file's base name without its extension. File is the
	// file's name.
	Name, File string
	// Title is the text of the first comment line.
	Title string
	// Template is the plan with every open time at its minimum and without the load's instances.
	Template plan.Plan
	// open holds the template's open times, sorted by Of, Index and Action.
	open []openTime
	// Load, if not nil, describes instances that are drawn at random.
	Load *Load
	// Expect lists requirements on a run in addition to the properties.
	Expect []plan.Expectation
	Seeds  SeedSpec
	// Require lists the coverage points that a campaign of Seeds.Count seeds must reach.
	Require []string
	// Matrix reports whether, in such a campaign, every kind of fault must affect every orchestration feature.
	Matrix bool

	// NoFaults reports whether the text says "faults none", so that no command adds faults by default.
	NoFaults bool

	// Fuzz limits how a fuzzer may change the scenario.
	Fuzz Fuzz

	warnings, unused []*Error // unused has those about builds that nothing uses
	changes          []handlerChange
	// lines holds the line numbers of instances ("instance ID"), mixes ("mix 0") and steps ("step 1"), among others.
	lines map[string]int
}

// Required returns the coverage points that a campaign of that many seeds must reach, those of each "sometimes" among
// them. It returns nil if there are fewer seeds than the scenario asks for, or if it runs with other faults, clocks, a
// profile, contract or strategy of their own, or bugs.
func (s *Scenario) Required(o Overrides, seeds uint64) []string {
	own := o.Faults == nil && o.CallersClock == nil && o.Profile == "" && o.Contract == "" && o.Strategy == "" && len(o.Bugs) == 0
	if n := s.Seeds.Count; !own || n == 0 || seeds < uint64(n) {
		return nil
	}
	points := append([]string{}, s.Require...)
	for _, e := range s.Expect {
		if e.Mode == plan.ModeSometimes {
			points = append(points, e.PointName())
		}
	}
	return points
}

// SeedSpec says how many seeds a campaign needs.
type SeedSpec struct {
	// Count is the smallest number of seeds for which a campaign must reach the required coverage and satisfy every
	// "sometimes". 0 means that no campaign must.
	Count int
}

// openOf identifies a field of the template whose time is open.
type openOf uint8

// The open times of a template.
const (
	openStep   openOf = iota // Template.Schedule[Index].At
	openFor                  // Template.Schedule[Index].For
	openStart                // Template.Instances[Index].StartAt
	openAction               // Template.Instances[Index].Actions[Action].At
	openKick                 // Template.Histories[Index].KickAt
	openProbe                // Template.Probes[Index].From
)

// openTime is a time drawn by Expand, in whole milliseconds from Lo to Hi, both inclusive.
type openTime struct {
	Of            openOf
	Index, Action int
	Lo, Hi        time.Duration
	// Relative times count from the previous step (openStep) or from the start of the instance (openAction).
	Relative bool
}

// Load is a number of instances whose orchestrations, start times and actions are drawn at random.
type Load struct {
	Count int
	// From is when the first instance may start. All of them start within Over after that.
	From, Over time.Duration
	Mix        []MixEntry
}

// MixEntry is one kind of instance of a load.
type MixEntry struct {
	// Weight determines the entry's share of the load: Weight divided by the sum of all weights.
	Weight uint32
	// Orchestration, Version and Expect have the same meaning as in plan.Instance.
	Orchestration, Version string
	Expect                 plan.End
	Unaided                bool
	// Generated means that each instance runs its own program, drawn from the seed. Orchestration is then
	// generatedName, the program has the same name as the instance, and the instance may get the events that it waits
	// for.
	Generated bool
	// Input is as in plan.Instance, or a range of whole numbers ("2..6") or durations ("1s..8s") from which the input
	// is drawn. If there is Or, one of Input and Or is drawn first.
	Input   string
	Or      []string
	Actions []ActionTemplate
}

// ActionTemplate is an action performed on every instance of a mix entry.
type ActionTemplate struct {
	// Action is the action. Its At is not used.
	Action plan.Action
	// Lo and Hi bound the action's time, which counts from the start of the instance if Relative is set and from the
	// start of the run otherwise.
	Lo, Hi   time.Duration
	Relative bool
}

// Error is an error in a text, with its location.
type Error struct {
	File string
	Line int // from 1; 0 means the whole file
	Msg  string
}

// Error returns "file:line: message".
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}
