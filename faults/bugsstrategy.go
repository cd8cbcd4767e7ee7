package faults

import (
	"time"

	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/machine"
)

// strategyBugs returns the bugs in strategies other than filter: bugs in how they handle work that a node cannot run.
func strategyBugs() []Bug {
	return []Bug{
		{ID: "engine/bounce-without-backoff", Summary: "bounced work always comes back after a second, so it is poison within seconds",
			Properties: []string{"S27"}, Scenario: bouncing,
			node: func(r *machine.Rules) {
				r.BounceBackoff = func(uint32, time.Duration, time.Duration) time.Duration { return time.Second }
			}},
		{ID: "engine/stall-counts", Summary: "a node that stalls work that it cannot replay counts an attempt",
			Properties: []string{"S27"}, Scenario: stalling,
			node: func(r *machine.Rules) { r.StallIgnoresAttempt = false }},
		{ID: "engine/sweep-at-second-sight", Summary: "a sweeper ends work that it meets a second time, however soon",
			Properties: []string{"S27"}, Scenario: sweeping,
			node: func(r *machine.Rules) {
				r.SweepDue = func(blocked, _ time.Duration) bool { return blocked > 0 }
			}},
		{ID: "engine/sweep-counts", Summary: "a sweeper counts an attempt when it abandons work that it has examined",
			Properties: []string{"S27"}, Scenario: sweeping,
			node: func(r *machine.Rules) {
				right := r.AbandonIgnoresAttempt
				r.AbandonIgnoresAttempt = func(d machine.Decision) bool { return d != machine.DecideLooked && right(d) }
			}},
		{ID: "engine/sweep-never-ends", Summary: "a sweeper examines work that no node can run, but never ends it",
			Properties: []string{"L13"}, Scenario: sweeping,
			node: func(r *machine.Rules) {
				r.SweepDue = func(time.Duration, time.Duration) bool { return false }
			}},
		{ID: "engine/sweep-takes-own", Summary: "a sweeper ends work that has waited for long even if its own node can replay it",
			Properties: []string{"S27"}, Scenario: "sweeper-behind",
			node: func(r *machine.Rules) {
				r.SweepSpares = func(bool) bool { return false }
			}},
		{ID: "provider/dead-letter-at-second-sight", Summary: "the dead-letter policy ends work that it finds blocked a second time, however soon",
			Properties: []string{"S27"}, Scenario: deadLetters, StoreWide: true,
			letters: func(r *deadletter.Rules) {
				r.Due = func(blocked, _ time.Duration) bool { return blocked > 0 }
			}},
		{ID: "provider/dead-letter-never", Summary: "the dead-letter policy never ends work that no fetch admits",
			Properties: []string{"L13"}, Scenario: deadLetters, StoreWide: true,
			letters: func(r *deadletter.Rules) {
				r.Due = func(time.Duration, time.Duration) bool { return false }
			}},
		{ID: "provider/dead-letter-parent-untold", Summary: "the dead-letter policy does not answer the parent of a child that it ends",
			Properties: []string{"L02"}, Scenario: "deadletter-families", StoreWide: true,
			letters: func(r *deadletter.Rules) { r.TellsParent = false }},
	}
}
