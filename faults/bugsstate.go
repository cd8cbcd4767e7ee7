package faults

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// sessionBugs returns the bugs that break sessions, tags, custom status and key-value state.
func sessionBugs() []Bug {
	return []Bug{
		{ID: "provider/session-not-claimed-atomically", Summary: "a fetch claims the session only when the next session activity has been fetched",
			Properties: []string{"S16"}, Scenario: features,
			provider: claimsLate},
		{ID: "provider/session-owner-ignored", StoreWide: true, Summary: "the activities of a live session go to any worker",
			Properties: []string{"S16"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.SessionOwned = func(bool, int64, int64) bool { return false } }},
		{ID: "provider/session-taken-by-plain-fetch", Summary: "a fetch without session config takes activities of sessions without an owner",
			Properties: []string{"S16"}, Scenario: sessions,
			provider: func(r *memprovider.Rules) { r.PlainFetchTakesSessions = true }},
		{ID: "provider/session-renewed-while-idle", Summary: "a renewal also extends idle sessions",
			Properties: []string{"S16"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.RenewsSession = func(live, _ bool) bool { return live } }},
		{ID: "provider/session-revived-by-renewal", Summary: "a renewal revives expired sessions",
			Properties: []string{"S16"}, Scenario: sessions,
			provider: func(r *memprovider.Rules) { r.RenewsSession = func(_, active bool) bool { return active } }},
		{ID: "provider/session-cleaned-with-work", Summary: "a cleanup deletes sessions that still have activities",
			Properties: []string{"S16"}, Scenario: sessions,
			provider: func(r *memprovider.Rules) { r.CleansSession = func(bool) bool { return true } }},
		{ID: "provider/session-work-is-no-activity", Summary: "acks and renewals of activities do not keep their session from becoming idle",
			Properties: []string{"S16"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.WorkIsActivity = false }},
		{ID: "provider/tag-lost", Summary: "an activity is stored without its tag",
			Properties: []string{"S16"}, Scenario: sessions,
			provider: func(r *memprovider.Rules) { r.TagStored = func(string) string { return "" } }},
		{ID: "provider/tags-ignored", Summary: "every tag filter except the one for no activity takes every activity",
			Properties: []string{"S16"}, Scenario: features,
			provider: func(r *memprovider.Rules) {
				r.TakesTag = func(f engine.TagFilter, _ string) bool { return f.Mode != engine.TagNone }
			}},
		{ID: "provider/tags-fold-case", Summary: "tags compare without regard to case",
			Properties: []string{"S16"}, Scenario: sessions,
			provider: func(r *memprovider.Rules) { r.TakesTag = takesTagFolded }},
		{ID: "provider/custom-status-version-per-event", Summary: "an ack raises the version of the custom status once for each update that it contains",
			Properties: []string{"S17"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.CustomStatusVersion = oncePerUpdate }},
		{ID: "provider/restored-status-lost", StoreWide: true, Summary: "an instance that the store holds at the start has lost its custom status",
			Properties: []string{"S17"}, Scenario: otherWriters,
			provider: func(r *memprovider.Rules) { r.RestoresStatus = false }},
		{ID: "provider/kv-snapshot-live", Summary: "a fetch shows the merged view of the key-value store, this execution's changes included",
			Properties: []string{"S17"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.SnapshotsMerged = true }},
		{ID: "provider/kv-tombstone-lost", Summary: "clearing a key leaves no tombstone, so the stored value comes back",
			Properties: []string{"S17"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.KeepsTombstone = false }},
		{ID: "provider/kv-merged-by-every-ack", Summary: "every ack merges the key-value delta, not only an execution's last one",
			Properties: []string{"S17"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.MergesKV = func(engine.Status) bool { return true } }},
		{ID: "provider/kv-not-merged-on-failure", Summary: "an execution that fails does not merge its key-value delta",
			Properties: []string{"S17"}, Scenario: retention,
			provider: func(r *memprovider.Rules) {
				r.MergesKV = func(s engine.Status) bool { return s.Terminal() && s != engine.StatusFailed }
			}},
		{ID: "provider/kv-read-in-two-statements", Summary: "a client read runs two statements a quarter of a second apart, and can see half of a merge",
			Properties: []string{"S26"}, Scenario: lookers,
			provider: func(r *memprovider.Rules) { r.KVReadMs = 250 }},
	}
}

func deleteBugs() []Bug {
	return []Bug{
		{ID: "provider/delete-leaves-lock", Summary: "a deletion leaves the instance lock",
			Properties: []string{"S14"}, Scenario: retention,
			provider: leaves(memprovider.DeleteLock)},
		{ID: "provider/delete-leaves-messages", Summary: "a deletion leaves the messages",
			Properties: []string{"S14"}, Scenario: retention,
			provider: leaves(memprovider.DeleteMessages)},
		{ID: "provider/delete-leaves-work", Summary: "a deletion leaves the activities, and their tokens",
			Properties: []string{"S14"}, Scenario: retention,
			provider: leaves(memprovider.DeleteWork)},
		{ID: "provider/delete-leaves-history", Summary: "a deletion leaves executions and history",
			Properties: []string{"S14"}, Scenario: retention,
			provider: leaves(memprovider.DeleteHistory)},
		{ID: "provider/delete-leaves-kv", Summary: "a deletion leaves the key-value store",
			Properties: []string{"S14"}, Scenario: retention,
			provider: leaves(memprovider.DeleteKV)},
		{ID: "provider/delete-takes-running", Summary: "an unforced deletion does not check whether the instance is running",
			Properties: []string{"S14"}, Scenario: retention,
			provider: func(r *memprovider.Rules) { r.RefusesDelete = func(_, _ bool) bool { return false } }},
		{ID: "provider/delete-orphans-children", Summary: "a deletion leaves children without their parent",
			Properties: []string{"S14"}, Scenario: retention,
			provider: func(r *memprovider.Rules) { r.RefusesOrphans = false }},
		{ID: "provider/prune-takes-current", Summary: "a prune removes the current execution if it has ended",
			Properties: []string{"S14"}, Scenario: retention,
			provider: func(r *memprovider.Rules) { r.Prunes = func(_, running bool) bool { return !running } }},
		{ID: "provider/prune-takes-running", Summary: "a prune removes running executions",
			provider: func(r *memprovider.Rules) { r.Prunes = func(current, _ bool) bool { return !current } }},
		{ID: "provider/prune-skips-running-instances", Summary: "a prune skips running instances, and so every eternal loop", Source: "docs/contract/incidents.md#p4",
			Properties: []string{"S14"}, Scenario: retention,
			provider: func(r *memprovider.Rules) { r.PrunesRunning = false }},
		{ID: "provider/prune-takes-keys", Summary: "a prune empties the key-value store",
			Properties: []string{"S14"}, Scenario: retention,
			provider: func(r *memprovider.Rules) { r.PruneTakesKV = true }},
	}
}

// leaves returns a function that changes the rules so that deletions omit the given step.
func leaves(step memprovider.DeleteStep) func(r *memprovider.Rules) {
	return func(r *memprovider.Rules) {
		r.DeleteSteps = slices.DeleteFunc(r.DeleteSteps, func(have memprovider.DeleteStep) bool { return have == step })
	}
}

func oncePerUpdate(version uint64, updates int) uint64 { return version + uint64(updates) }

func takesTagFolded(f engine.TagFilter, tag string) bool {
	folded := engine.TagFilter{Mode: f.Mode}
	for _, t := range f.Tags {
		folded.Tags = append(folded.Tags, strings.ToLower(t))
	}
	return folded.Matches(strings.ToLower(tag))
}

// claimsLate delays each session claim until the next fetch of a session activity.
func claimsLate(r *memprovider.Rules) {
	var late memprovider.Claim
	r.Claimed = func(made memprovider.Claim) memprovider.Claim {
		due := late
		late = made
		return due
	}
}
