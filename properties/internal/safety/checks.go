package safety

import "github.com/durosim/durosim/properties/internal/check"

// checkers lists the safety checkers and the properties that each of them reports. What a store may do is left to the
// second judge (properties/internal/secondjudge), which reports it under the other ids.
var checkers = []struct {
	ids  []string
	make func(m *check.Run) check.Checker
}{
	{[]string{"S01", "S02", "S03"}, newFilterChecker},
	{[]string{"S04"}, newCountChecker},
	{[]string{"S07"}, newHistoryChecker},
	{[]string{"S08", "S09", "S10", "S23"}, newCommitChecker},
	{[]string{"S11", "S29"}, newReplayChecker},
	{[]string{"S12"}, newConserveChecker},
	{[]string{"S16"}, newSessionCapChecker},
	{[]string{"S19"}, newLockLossChecker},
	{[]string{"S20"}, newOutputChecker},
	{[]string{"S22"}, newEligibleChecker},
	{[]string{"S11", "S13", "S17", "S21"}, newTurnChecker},
	{[]string{"S27"}, newStrategyChecker},
	{[]string{"S30"}, newSchemaChecker},
}

// Checks returns the checkers for the properties that are selected for a run.
func Checks(m *check.Run) []check.Checker {
	var list []check.Checker
	for _, s := range checkers {
		for _, id := range s.ids {
			if m.Wants(id) {
				list = append(list, s.make(m))
				break
			}
		}
	}
	return list
}

// IDs returns the safety properties that this package checks.
func IDs() []string {
	var ids []string
	for _, s := range checkers {
		ids = append(ids, s.ids...)
	}
	return ids
}
