package command

import (
	"github.com/durosim/durosim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// A campaign with at least smallSeeds seeds immediately shrinks the failure that determines its exit status. Shrinking
// is limited to smallRuns runs with about smallSteps steps in total, which takes a second or two. In a smaller
// campaign, shrinking would take longer than the campaign itself.
const (
	smallSeeds = 100
	smallRuns  = 200
	smallSteps = 1_000_000
)

// makeSmall shrinks the failure that determines the exit status. It does nothing if the campaign was interrupted or has
// fewer than smallSeeds seeds, or if each run is slow: one with a foreign store, a released runtime, or too many steps.
func (r *report) makeSmall() {
	v, ok := r.shrinkable()
	if !ok || r.sum.Interrupted || r.sum.Seeds < smallSeeds || r.subject.store != nil {
		return
	}
	runs := min(smallRuns, smallSteps*r.sum.Seeds/max(r.sum.Steps, 1))
	cfg, err := r.subject.config(v.Seed)
	if err != nil || runs < smallRuns/10 || len(cfg.Plan.Releases()) > 0 {
		return
	}
	concrete, err := r.subject.record(cfg)
	if err != nil {
		return // this run succeeded before; the shrink command named in the report will show the error
	}
	options := r.subject.shrinkOptions(v.Violation)
	options.MaxRuns = int(runs)
	if small, err := durosim.Shrink(*concrete, options); err == nil {
		r.small = &shrunk{subject: r.subject, seed: v.Seed, small: small}
	}
}

// shrinkable returns the violation that determines the exit status, and reports whether a smaller plan can show it.
func (r *report) shrinkable() (campaign.Violation, bool) {
	v, ok := r.deciding()
	return v, ok && r.found != exitInternal && r.found != exitDrift && v.Class != cluster.ClassInternal && v.Class != cluster.ClassHandler
}

// printSmall prints the shrunk failure, the nearest passing run, and the point where the two diverge. If the failure
// was not shrunk, it prints the shrink command instead.
func (a *app) printSmall(r *report) {
	v, ok := r.shrinkable()
	if !ok {
		return
	}
	line := r.subject.line("shrink", v.Seed, "--property", v.Rule())
	if r.small == nil {
		a.printf("\nThe smallest plan that shows it, the nearest that holds, and where that is decided:\n%s\n", line)
		return
	}
	small := r.small.small
	a.printf("\nThe smallest plan found in %s that violates %s:\n\n%s", plural(uint64(small.Runs), "run", "runs"), ruleName(small.First), small.Text())
	a.printf("\nWhat happens in it:\n")
	a.printPlace(small.First)
	if small.Minimal {
		a.printNearest(r.small)
		a.printBlame(r.small)
		a.printf("\nTo keep it:\n%s\n", line)
		return
	}
	a.printf("\nSmaller still, with the nearest plan that holds, and where that is decided:\n%s\n", line)
}
