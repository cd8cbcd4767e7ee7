package scenario

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// Scenario is a plan, or a family of plans that differ only in the values drawn from the seed.
type Scenario struct {
	// Name is the name in the text, or else the file's name without directory and extension. File is the file's name.
	Name, File string
	// Title is the text of the first comment line.
	Title string
	// Template is the plan with each open time at its minimum and without the instances of the load.
	Template plan.Plan
	// open holds the open times of the template, sorted by Of, Index and Action.
	open []openTime
	// Load, if not nil, describes the drawn instances.
	Load *Load
	// Expect lists the expectations of a run in addition to the properties.
	Expect []plan.Expectation
	Seeds  SeedSpec
	// Require are the coverage points that a campaign of Seeds.Count seeds must reach.
	Require []string
	// Matrix reports whether in such a campaign each kind of fault must meet each feature of orchestrations.
	Matrix bool

	// Fuzz limits how a fuzzer changes the scenario.
	Fuzz Fuzz

	warnings []*Error
	// lines holds the lines of instances ("instance ID") and mixes ("mix 0").
	lines map[string]int
}

// SeedSpec describes how many seeds a campaign needs.
type SeedSpec struct {
	// Count is the number of seeds from which on a campaign must reach the required coverage and show every
	// "sometimes". 0 means that no campaign must.
	Count int
}

// openOf names a field of the template whose time is open.
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

// openTime is a time that Expand draws, in whole milliseconds from Lo to Hi, both included.
type openTime struct {
	Of            openOf
	Index, Action int
	Lo, Hi        time.Duration
	// Relative times count from the step before (openStep) or from the start of the instance (openAction).
	Relative bool
}

// Load is a number of instances whose orchestrations, starts and actions are drawn.
type Load struct {
	Count int
	// From is when the first instance may start; all start within Over after that.
	From, Over time.Duration
	Mix        []MixEntry
}

// MixEntry is one kind of instance of a load.
type MixEntry struct {
	// Weight is the entry's weight: its share of the load is Weight out of the sum of all weights.
	Weight uint32
	// Orchestration, Version, Expect are as in plan.Instance.
	Orchestration, Version string
	Expect                 plan.End
	Unaided                bool
	// Generated means that each instance runs its own program, drawn from the seed. Orchestration is then
	// generatedName, and the program has the name of the instance. The instance may get the events that it waits for.
	Generated bool
	// Input is as in plan.Instance, or a range of whole numbers ("2..6") or times ("1s..8s") from which the input is
	// drawn.
	Input   string
	Actions []ActionTemplate
}

// ActionTemplate is an action of each instance of a mix entry.
type ActionTemplate struct {
	// Action is the action; its At is not used.
	Action plan.Action
	// Lo and Hi bound the action's time, which counts from the start of the instance if Relative, otherwise from the
	// start of the run.
	Lo, Hi   time.Duration
	Relative bool
}

// Error is an error in a text, with its place.
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
