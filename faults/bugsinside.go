package faults

import "github.com/durosim/durosim/internal/storerules"

// insideBugs returns bugs of stores that look first and act later: what they do is right if nothing happens in between.
func insideBugs() []Bug {
	return []Bug{
		{ID: "provider/lease-from-arrival", Summary: "a lock counts from the arrival of the call, however long it waits in the store", Source: "docs/contract/incidents.md#p13",
			Properties: []string{"S25", "L12"}, Scenario: herd,
			provider: func(r *storerules.Rules) { r.LockFrom = func(arrivedMs, _ int64) int64 { return arrivedMs } }},
		{ID: "provider/ack-checks-early", Summary: "an ack is judged by the lock that it had when it arrived", Source: "docs/contract/incidents.md#p16",
			Properties: []string{"S05"}, Scenario: slowCalls,
			provider: func(r *storerules.Rules) { r.CommitSees = whenArrived }},
		{ID: "provider/renewal-checks-early", Summary: "a renewal is judged by the lock that it had when it arrived", Source: "docs/contract/incidents.md#p17",
			Properties: []string{"S05", "L08"}, Scenario: slowCalls,
			provider: func(r *storerules.Rules) { r.RenewSees = whenArrived }},
		{ID: "provider/claim-not-retried", Summary: "a fetch answers nothing when the instance that it chose on its arrival has been taken meanwhile", Source: "docs/contract/incidents.md#p8",
			Properties: []string{"S22"}, Scenario: herd,
			provider: func(r *storerules.Rules) { r.RetriesClaim = false }},
		{ID: "provider/delete-looks-early", Summary: "a deletion is judged by what was running when it arrived", Source: "docs/contract/provider.md#p7.2",
			Properties: []string{"S14"}, Scenario: lateDeletes,
			provider: func(r *storerules.Rules) { r.DeleteSees = func(arrived, _ bool) bool { return arrived } }},
		{ID: "provider/read-skips-undecodable", Summary: "a read of a history leaves out events that it cannot decode", Source: "docs/contract/incidents.md#p9",
			Properties: []string{"S26"}, Scenario: lookers,
			provider: func(r *storerules.Rules) { r.ReadsSkipUndecodable = true }},
		{ID: "provider/stats-skip-undecodable", Summary: "the statistics of an instance leave out events that cannot be decoded", Source: "docs/contract/incidents.md#r11",
			Properties: []string{"S26"}, Scenario: lookers,
			provider: func(r *storerules.Rules) { r.StatsSkipUndecodable = true }},
	}
}

func whenArrived(arrived, _ storerules.Holding) storerules.Holding { return arrived }
