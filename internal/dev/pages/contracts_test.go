package pages

import (
	"fmt"

	"github.com/durosim/durosim/engine"
)

func init() { generated["contracts"] = contracts }

// contracts lists the points on which releases differ, with what each requires.
func contracts() string {
	all := engine.Contracts()
	columns := []string{"what"}
	for _, c := range all {
		columns = append(columns, "`--contract "+c.Release+"`")
	}
	b := table(append(columns, "without it", "judged by")...)
	yes := func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	}
	for _, row := range []struct {
		what          string
		of            func(c engine.Contract) string
		without, seen string
	}{
		{"`get_instance_stats` ([5.16](contract/provider.md#p5.16))", func(c engine.Contract) string { return yes(c.Stats, "asked for", "left out") },
			"asked for", "`oracle`, `conformance`"},
		{"an abandon's delay and attempts ([F9](contract/provider.md#f9))", func(c engine.Contract) string {
			return yes(c.AbandonsBatch, "the messages of its batch alone", "the batch, or all of the instance")
		}, "as 0.1.26, with a warning; a simulation's store the batch alone", "`oracle`; `BP-27`, `BP-223`"},
		{"messages that a continue-as-new carries; keys; bytes of a value ([limits](contract/runtime.md#r4.1))", func(c engine.Contract) string {
			return fmt.Sprintf("%d; %d; %d", c.Limits.CarriedEvents, c.Limits.Keys, c.Limits.ValueBytes)
		}, "as 0.1.26; `limits` of a declared build", "S11, S17, S20, S24"},
		{"automatic ids of children; `sub::` in other ids ([7.10](contract/runtime.md#r7.10))", func(c engine.Contract) string {
			return yes(c.OwnChildIDs, "`sub::5`, from execution 2 on `sub::2_5`; refused", "`sub::5`; free")
		}, "as 0.1.26; `names children` of a declared build", "S24, S11"},
		{"input before the continue-as-new start ([row 4](#row-4))", func(c engine.Contract) string {
			return yes(c.CountsWaiting, "waits with the backoff of a missing handler, counted", "waits 1 s at a time, uncounted")
		}, "as 0.1.26", "S04"},
		{"the event of a dropped wait ([threshold](contract/runtime.md#r15.2))", func(c engine.Contract) string {
			if c.Discards == nil {
				return "goes to the next wait"
			}
			return "is discarded, in executions begun by " + c.Discards.String() + " or later"
		}, "as 0.1.26; `semantics` of a declared build", "S24, S11"},
	} {
		cells := []string{row.what}
		for _, c := range all {
			cells = append(cells, row.of(c))
		}
		b.row(append(cells, row.without, row.seen)...)
	}
	return b.String()
}
