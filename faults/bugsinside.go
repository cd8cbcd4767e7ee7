package faults

import "github.com/durosim/durosim/memprovider"

// insideBugs returns the bugs of stores that check first and act later. Such a store is wrong only if something happens
// in between.
func insideBugs() []Bug {
	return []Bug{
		{ID: "provider/lease-from-arrival", Summary: "a lock starts when the call arrives, however long the call waits in the store", Source: "docs/contract/incidents.md#p13",
			Properties: []string{"S25", "L12"}, Scenario: herd,
			provider: func(r *memprovider.Rules) { r.LockFrom = func(arrivedMs, _ int64) int64 { return arrivedMs } }},
		{ID: "provider/ack-checks-early", Summary: "the store checks an ack against the lock as it was when the ack arrived", Source: "docs/contract/incidents.md#p16",
			Properties: []string{"S05"}, Scenario: slowCalls,
			provider: func(r *memprovider.Rules) { r.CommitSees = whenArrived }},
		{ID: "provider/renewal-checks-early", Summary: "the store checks a renewal against the lock as it was when the renewal arrived", Source: "docs/contract/incidents.md#p17",
			Properties: []string{"S05", "L08"}, Scenario: lateDeletes,
			provider: func(r *memprovider.Rules) { r.RenewSees = whenArrived }},
		{ID: "provider/claim-not-retried", Summary: "a fetch returns nothing if the instance that it chose on arrival has since been taken", Source: "docs/contract/incidents.md#p8",
			Properties: []string{"S22"}, Scenario: herd,
			provider: func(r *memprovider.Rules) { r.RetriesClaim = false }},
		{ID: "provider/delete-looks-early", Summary: "a deletion checks which instances were running when it arrived", Source: "docs/contract/provider.md#p7.2",
			Properties: []string{"S14"}, Scenario: lateDeletes,
			provider: func(r *memprovider.Rules) { r.DeleteSees = func(arrived, _ bool) bool { return arrived } }},
		{ID: "provider/read-skips-undecodable", Summary: "a history read omits events that it cannot decode", Source: "docs/contract/incidents.md#p9",
			Properties: []string{"S26"}, Scenario: lookers,
			provider: func(r *memprovider.Rules) { r.ReadsSkipUndecodable = true }},
		{ID: "provider/stats-skip-undecodable", Summary: "an instance's statistics omit events that cannot be decoded", Source: "docs/contract/incidents.md#r11",
			Properties: []string{"S26"}, Scenario: lookers,
			provider: func(r *memprovider.Rules) { r.StatsSkipUndecodable = true }},
	}
}

func whenArrived(arrived, _ memprovider.Holding) memprovider.Holding { return arrived }
