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

// Doubts returns warnings about an instance of a shipped orchestration: an input that it cannot parse. It returns
// nil for all other orchestrations.
func Doubts(in *plan.Instance) []string {
	if !slices.ContainsFunc(Orchestrations(), func(o Orchestration) bool { return o.Name == in.Orchestration }) {
		return nil
	}
	var all []string
	if in.Input != "" && slices.Contains(numbered, in.Orchestration) {
		if n, err := strconv.Atoi(in.Input); err != nil || n < 0 {
			all = append(all, fmt.Sprintf("%s takes a number from 0, which the input %q is not: it runs as if without input", in.Orchestration, in.Input))
		}
	}
	if in.Input != "" && in.Orchestration == "Approval" {
		if _, err := time.ParseDuration(in.Input); err != nil {
			all = append(all, fmt.Sprintf("Approval takes a duration such as 5s, which the input %q is not: it runs as if without input", in.Input))
		}
	}
	return all
}
