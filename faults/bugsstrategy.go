package faults

import (
	"time"

	"github.com/durosim/durosim/internal/deadletter"
	"github.com/durosim/durosim/internal/machine"
)

// strategyBugs returns bugs that break what a strategy other than filter does with work that a node cannot run.
func strategyBugs() []Bug {
	return []Bug{
		{ID: "engine/bounce-without-backoff", Summary: "work that is bounced comes back after a second each time, so that it is poison within seconds",
			Properties: []string{"S27"}, Scenario: bouncing,
			node: func(r *machine.Rules) {
				r.BounceBackoff = func(uint32, time.Duration, time.Duration) time.Duration { return time.Second }
			}},
		{ID: "engine/sweep-at-second-sight", Summary: "a sweeper ends what it meets a second time, however soon",
			Properties: []string{"S27"}, Scenario: sweeping,
			node: func(r *machine.Rules) {
				r.SweepDue = func(blocked, _ time.Duration) bool { return blocked > 0 }
			}},
		{ID: "engine/sweep-counts", Summary: "a sweeper gives back what it has looked at as a delivery that counts",
			Properties: []string{"S27"}, Scenario: sweeping,
			node: func(r *machine.Rules) {
				right := r.AbandonIgnoresAttempt
				r.AbandonIgnoresAttempt = func(d machine.Decision) bool { return d != machine.DecideLooked && right(d) }
			}},
		{ID: "engine/sweep-never-ends", Summary: "a sweeper looks at what nobody can run, and never ends it",
			Properties: []string{"L13"}, Scenario: sweeping,
			node: func(r *machine.Rules) {
				r.SweepDue = func(time.Duration, time.Duration) bool { return false }
			}},
		{ID: "engine/sweep-takes-own", Summary: "a sweeper ends what waits for long even if its node replays it",
			Properties: []string{"S27"}, Scenario: "sweeper-behind",
			node: func(r *machine.Rules) {
				r.SweepSpares = func(bool) bool { return false }
			}},
		{ID: "provider/dead-letter-at-second-sight", Summary: "the dead-letter policy ends what it finds blocked a second time, however soon",
			Properties: []string{"S27"}, Scenario: deadLetters, StoreWide: true,
			letters: func(r *deadletter.Rules) {
				r.Due = func(blocked, _ time.Duration) bool { return blocked > 0 }
			}},
		{ID: "provider/dead-letter-never", Summary: "the dead-letter policy never ends what no fetch admits",
			Properties: []string{"L13"}, Scenario: deadLetters, StoreWide: true,
			letters: func(r *deadletter.Rules) {
				r.Due = func(time.Duration, time.Duration) bool { return false }
			}},
		{ID: "provider/dead-letter-parent-untold", Summary: "the parent of what the dead-letter policy ends is not told",
			Properties: []string{"L02"}, Scenario: "deadletter-families", StoreWide: true,
			letters: func(r *deadletter.Rules) { r.TellsParent = false }},
	}
}
