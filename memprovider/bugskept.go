package memprovider

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
)

// keptBugs are the seeded bugs in sessions, tags, custom status and the key-value store.
func keptBugs() []Bug {
	return []Bug{
		{"provider/session-not-claimed-atomically", "a fetch claims the session only when the next session activity has been fetched",
			func(r *Rules) { r.ClaimsWithFetch = never }},
		{"provider/session-owner-ignored", "the activities of a live session go to anybody",
			func(r *Rules) { r.SessionOwned = func(bool, int64, int64) bool { return false } }},
		{"provider/session-taken-by-plain-fetch", "a fetch without session config takes activities of sessions that nobody owns",
			func(r *Rules) { r.PlainFetchTakesSessions = always }},
		{"provider/session-renewed-while-idle", "a renewal extends idle sessions, too",
			func(r *Rules) { r.RenewsSession = func(live, _ bool) bool { return live } }},
		{"provider/session-revived-by-renewal", "a renewal revives sessions that ran out",
			func(r *Rules) { r.RenewsSession = func(_, active bool) bool { return active } }},
		{"provider/session-cleaned-with-work", "a cleanup deletes sessions that still have activities",
			func(r *Rules) { r.CleansSession = func(bool) bool { return true } }},
		{"provider/session-work-is-no-activity", "acks and renewals of activities do not count as activity of their session",
			func(r *Rules) { r.WorkIsActivity = never }},

		{"provider/tag-lost", "an activity is stored without its tag",
			func(r *Rules) { r.TagStored = func(string) string { return "" } }},
		{"provider/tags-ignored", "every tag filter but the one for none takes every activity",
			func(r *Rules) {
				r.TakesTag = func(f engine.TagFilter, _ string) bool { return f.Mode != engine.TagNone }
			}},
		{"provider/tags-fold-case", "tags compare without regard to case",
			func(r *Rules) { r.TakesTag = takesTagFolded }},

		{"provider/custom-status-version-per-event", "an ack raises the version of the custom status for each update that it brings",
			func(r *Rules) { r.CustomStatusVersion = oncePerUpdate }},

		{"provider/kv-snapshot-live", "a fetch shows the merged view of the key-value store, this execution's changes included",
			func(r *Rules) { r.SnapshotsMerged = always }},
		{"provider/kv-tombstone-lost", "clearing a key leaves no tombstone, so the stored value comes back",
			func(r *Rules) { r.KeepsTombstone = never }},
		{"provider/kv-merged-by-every-ack", "every ack merges the key-value delta, not only the last one of an execution",
			func(r *Rules) { r.MergesKV = func(engine.Status) bool { return true } }},
		{"provider/kv-not-merged-on-failure", "an execution that fails does not merge its key-value delta",
			func(r *Rules) {
				r.MergesKV = func(s engine.Status) bool { return s.Terminal() && s != engine.StatusFailed }
			}},
		{"provider/kv-read-in-two-statements", "a client read can see a merge half-way",
			func(r *Rules) { r.ReadsKVAtOnce = never }},
	}
}

// deleteBugs are the seeded bugs in deletion and pruning.
func deleteBugs() []Bug {
	leaves := func(step DeleteStep) func(r *Rules) {
		return func(r *Rules) {
			r.DeleteSteps = slices.DeleteFunc(r.DeleteSteps, func(have DeleteStep) bool { return have == step })
		}
	}
	return []Bug{
		{"provider/delete-leaves-lock", "a deletion leaves the instance lock", leaves(DeleteLock)},
		{"provider/delete-leaves-messages", "a deletion leaves the messages", leaves(DeleteMessages)},
		{"provider/delete-leaves-work", "a deletion leaves the activities, and their tokens", leaves(DeleteWork)},
		{"provider/delete-leaves-history", "a deletion leaves executions and history", leaves(DeleteHistory)},
		{"provider/delete-leaves-kv", "a deletion leaves the key-value store", leaves(DeleteKV)},
		{"provider/delete-takes-running", "an unforced deletion does not look whether the instance is running",
			func(r *Rules) { r.RefusesDelete = func(_, _ bool) bool { return false } }},
		{"provider/delete-orphans-children", "a deletion leaves children without their parent",
			func(r *Rules) { r.RefusesOrphans = never }},
		{"provider/prune-takes-current", "a prune removes the current execution if it has ended",
			func(r *Rules) { r.Prunes = func(_, running bool) bool { return !running } }},
		{"provider/prune-takes-running", "a prune removes running executions",
			func(r *Rules) { r.Prunes = func(current, _ bool) bool { return !current } }},
		{"provider/prune-takes-keys", "a prune empties the key-value store",
			func(r *Rules) { r.PruneTakesKV = always }},
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

func cancelsUnheld(execution, activity uint64, held bool, id engine.ScheduledActivityIdentifier) bool {
	return !held && theTriple(execution, activity, held, id)
}

func cancelsInAny(_, activity uint64, _ bool, id engine.ScheduledActivityIdentifier) bool {
	return activity == id.ActivityID
}
