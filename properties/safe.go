package properties

// safetyCheckers are the checkers of safety, with the properties that each reports.
var safetyCheckers = []struct {
	ids  []string
	make func(m *run) checker
}{
	{[]string{"S01", "S02", "S03"}, newFilterChecker},
	{[]string{"S04"}, newCountChecker},
	{[]string{"S05"}, newLockChecker},
	{[]string{"S06"}, newAtomicChecker},
	{[]string{"S07"}, newHistoryChecker},
	{[]string{"S08", "S09", "S10", "S23"}, newCommitChecker},
	{[]string{"S11"}, newReplayChecker},
	{[]string{"S12"}, newConserveChecker},
	{[]string{"S13"}, newCompletionChecker},
	{[]string{"S14"}, newDeletionChecker},
	{[]string{"S15"}, newDelayChecker},
	{[]string{"S16"}, newRoutingChecker},
	{[]string{"S17"}, newStateChecker},
	{[]string{"S18"}, newVisibleErrorChecker},
	{[]string{"S19"}, newKeptChecker},
	{[]string{"S20"}, newOutputChecker},
	{[]string{"S21"}, newPhantomChecker},
	{[]string{shadowID}, newShadowChecker},
}

// safetyChecks are the checkers of which a run wants a property.
func safetyChecks(m *run) []checker {
	var list []checker
	for _, s := range safetyCheckers {
		for _, id := range s.ids {
			if m.wants(id) {
				list = append(list, s.make(m))
				break
			}
		}
	}
	return list
}
