package planedit

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// Shipped returns a space with everything that durosim ships, except for builds with other replay semantics: no run can
// satisfy a plan that switches between semantics.
func Shipped() *Space {
	s := &Space{Known: workload.Known(), Work: ShippedWork()}
	for _, f := range faults.Kinds() {
		s.Faults = append(s.Faults, f.Kind)
	}
	for _, b := range engine.ShippedBuilds() {
		if b.Semantics == engine.SemanticsStandard {
			s.Builds = append(s.Builds, b.Name())
		}
	}
	for _, o := range workload.Common() {
		s.Handlers = append(s.Handlers, o.Name+"@"+o.Version.String())
	}
	return s
}

// OptionValues is a row of values that random plans may give to node options. The options in a row are set together.
type OptionValues struct {
	Names  []string
	Values [][]string
}

// Options returns the rows of option values for random nodes.
func Options() []OptionValues { return slices.Clone(tuning) }

var tuning = []OptionValues{
	{[]string{"max_attempts"}, [][]string{{"2"}, {"3"}, {"5"}}},
	{[]string{"orchestration_concurrency"}, [][]string{{"1"}, {"4"}}},
	{[]string{"worker_concurrency"}, [][]string{{"1"}, {"4"}}},
	{[]string{"orchestrator_lock_timeout", "orchestrator_lock_renewal_buffer"}, [][]string{{"2s", "1s"}, {"3s", "500ms"}, {"10s", "2s"}}},
	{[]string{"worker_lock_timeout", "worker_lock_renewal_buffer"}, [][]string{{"2s", "500ms"}, {"5s", "1s"}}},
	{[]string{"dispatcher_min_poll_interval"}, [][]string{{"50ms"}, {"250ms"}}},
	{[]string{"unregistered_backoff_base", "unregistered_backoff_max"}, [][]string{{"500ms", "2s"}, {"2s", "10s"}}},
	{[]string{"supported_replay_versions"}, [][]string{{">=0.0.0, <=1.6.0"}, {">=1.0.0, <=99.0.0"}, {">=0.0.0, <=99.0.0"}}},
	{[]string{"activity_cancellation_grace_period"}, [][]string{{"0s"}, {"1s"}}},
}

// options returns the settings in one or two rows, selected by value.
func options(value int) (out []plan.Setting) {
	rows := []int{value % len(tuning)}
	if second := value / len(tuning) % len(tuning); value >= 128 && second != rows[0] {
		rows = append(rows, second)
	}
	for _, i := range rows {
		row := tuning[i]
		values := row.Values[value/16%len(row.Values)]
		for j, name := range row.Names {
			out = append(out, plan.Setting{Name: name, Value: values[j]})
		}
	}
	return out
}

// ShippedWork returns instances of the shipped orchestrations. Their clients' actions are timed relative to the
// instance's start.
func ShippedWork() []plan.Instance {
	var out []plan.Instance
	for _, o := range workload.Common() {
		in := plan.Instance{ID: o.Name, Orchestration: o.Name, Expect: o.Expect}
		switch o.Name {
		case "Studio":
			continue // needs a worker with a tag, which random nodes do not have
		case "ProcessOrder":
			if len(out) > 0 && out[len(out)-1].ID == o.Name {
				continue // its starter chooses its version
			}
			in.Actions = []plan.Action{{At: 2 * time.Second, Verb: plan.ActionRaise, Name: "approval", Topic: "orders", Data: "yes"}}
		case "Approval":
			in.Input = "4s"
			in.Actions = []plan.Action{{At: 3 * time.Second, Verb: plan.ActionRaise, Name: "approval", Data: "yes"}}
		case "Cancellable":
			in.Actions = []plan.Action{{At: 5 * time.Second, Verb: plan.ActionCancel, Data: "enough"}}
		}
		out = append(out, in)
	}
	return out
}
