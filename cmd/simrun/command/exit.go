package command

import (
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// The exit statuses.
const (
	exitOK       = 0
	exitSafety   = 1   // a safety property was violated
	exitUsage    = 2   // usage error or bad input
	exitLiveness = 3   // a liveness property was violated
	exitDrift    = 4   // two runs of one seed differ
	exitVacuous  = 5   // the campaign did not reach a required point
	exitHandler  = 6   // one of the user's handlers is not deterministic
	exitPlan     = 7   // the contract held, but some work did not end as the plan expects
	exitInternal = 70  // a defect in durosim
	exitOutput   = 74  // standard output could not be written
	exitStopped  = 130 // interrupted by the user
)

// severity lists the failing statuses, most severe first. If several apply, the exit status is the most severe one.
var severity = []int{exitInternal, exitDrift, exitHandler, exitSafety, exitLiveness, exitPlan, exitVacuous}

// worst returns the more severe of two statuses.
func worst(a, b int) int {
	for _, status := range severity {
		if a == status || b == status {
			return status
		}
	}
	return exitOK
}

// classExit returns the exit status for a violation of class c.
func classExit(c cluster.Class) int {
	switch c {
	case cluster.ClassSafety:
		return exitSafety
	case cluster.ClassLiveness:
		return exitLiveness
	case cluster.ClassHandler:
		return exitHandler
	case cluster.ClassPlan:
		return exitPlan
	}
	return exitInternal
}

// summaryExit returns the exit status for a campaign. missed lists the required points that the campaign did not reach.
func summaryExit(s *campaign.Summary, missed []string) int {
	status := exitOK
	for _, p := range s.Properties {
		status = worst(status, classExit(p.Class))
	}
	if len(s.Internal) > 0 {
		status = worst(status, exitInternal)
	}
	if len(s.Drifts) > 0 {
		status = worst(status, exitDrift)
	}
	if len(missed) > 0 {
		status = worst(status, exitVacuous)
	}
	return status
}

// exitText describes an exit status briefly.
func exitText(status int) string {
	switch status {
	case exitOK:
		return "everything held"
	case exitSafety:
		return "a safety property is violated"
	case exitLiveness:
		return "a liveness property is violated"
	case exitDrift:
		return "two runs of one seed differ"
	case exitVacuous:
		return "the campaign did not reach every required point"
	case exitHandler:
		return "a handler is not deterministic"
	case exitStopped:
		return "interrupted"
	case exitPlan:
		return "work did not end as the plan expects"
	case exitOutput:
		return "standard output could not be written"
	case exitUsage:
		return "usage or bad input"
	}
	return "internal error"
}
