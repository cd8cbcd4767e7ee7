package workload

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// numbered lists the shipped orchestrations that expect a count as input. They ignore other input.
var numbered = []string{
	"Chain", "Counter", "Doorman", "Eternal", "Family", "FanOut", "Guardian", "Herald", "Hoarder", "Ledger", "Nanny", "OrderDesk", "Picky", "Race", "Restless", "Scribbler", "Studio",
}

// InputWarnings returns warnings about an instance of a shipped orchestration: an input that it cannot parse, or an end that it
// never reaches. It returns nil for all other orchestrations.
func InputWarnings(in *plan.Instance) []string {
	all := Orchestrations()
	at := slices.IndexFunc(all, func(o Orchestration) bool { return o.Name == in.Orchestration })
	if at < 0 {
		return nil
	}
	var warnings []string
	cancelled := slices.ContainsFunc(in.Actions, func(a plan.Action) bool { return a.Verb == plan.ActionCancel || a.Verb == plan.ActionDelete })
	if all[at].Expect == plan.EndEternal && (in.Expect == "" || in.Expect == plan.EndCompleted) && !cancelled {
		warnings = append(warnings, fmt.Sprintf("%s runs until it is cancelled: write \"expect eternal\" after it", in.Orchestration))
	}
	if in.Input != "" && slices.Contains(numbered, in.Orchestration) {
		if n, err := strconv.Atoi(in.Input); err != nil || n < 0 {
			warnings = append(warnings, fmt.Sprintf("%s takes a number from 0, which the input %q is not: it runs as if without input", in.Orchestration, in.Input))
		}
	}
	if in.Input != "" && in.Orchestration == "Approval" {
		if _, err := time.ParseDuration(in.Input); err != nil {
			warnings = append(warnings, fmt.Sprintf("Approval takes a duration such as 5s, which the input %q is not: it runs as if without input", in.Input))
		}
	}
	return warnings
}
