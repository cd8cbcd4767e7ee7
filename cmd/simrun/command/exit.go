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
var severity = []struct {
	status int
	text   string
}{
	{exitInternal, "internal error"},
	{exitDrift, "two runs of one seed differ"},
	{exitHandler, "a handler is not deterministic"},
	{exitSafety, "a safety property is violated"},
	{exitLiveness, "a liveness property is violated"},
	{exitPlan, "work did not end as the plan expects"},
	{exitVacuous, "the campaign did not reach every required point"},
}

// worst returns the more severe of two statuses.
func worst(a, b int) int {
	for _, s := range severity {
		if a == s.status || b == s.status {
			return s.status
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

// exitText describes a failing exit status briefly.
func exitText(status int) string {
	for _, s := range severity {
		if s.status == status {
			return s.text
		}
	}
	if status == exitStopped {
		return "interrupted"
	}
	return "usage or bad input"
}
