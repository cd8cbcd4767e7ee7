package faults

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// storeBugs returns the bugs that make the store do more or less than it should.
func storeBugs() []Bug {
	return []Bug{
		{ID: "provider/newer-schema-unchecked", Summary: "a program works with a store whose schema is too new for it",
			Properties: []string{"S30"}, Scenario: schemas,
			provider: func(r *memprovider.Rules) { r.ChecksSchema = false }},
		{ID: "provider/migrates-beside-another", Summary: "a program migrates the store while another one does",
			Properties: []string{"S30"}, Scenario: schemas,
			provider: func(r *memprovider.Rules) { r.MigratesAlone = false }},
		{ID: "provider/half-migration-kept", Summary: "a migration that fails half-way leaves the new schema",
			Properties: []string{"S30"}, Scenario: schemas,
			provider: func(r *memprovider.Rules) { r.UndoesHalf = false }},
		{ID: "provider/older-schema-refused", Summary: "a program does not start on a schema that it should migrate",
			Properties: []string{"S30"}, Scenario: schemas,
			provider: func(r *memprovider.Rules) { r.TakesOlder = false }},
		{ID: "provider/activation-not-awaited", Summary: "a build is activated while some nodes cannot run it",
			Properties: []string{"S30"}, Scenario: activation,
			provider: func(r *memprovider.Rules) { r.ActivatesWhenReady = false }},
		{ID: "provider/restart-activates", Summary: "a restart of a node activates the build that its own waits for",
			Properties: []string{"S30"}, Scenario: activation,
			provider: func(r *memprovider.Rules) { r.RestartActivates = true }},
		{ID: "provider/activation-forgotten", Summary: "nodes do not learn that a build has been activated",
			Properties: []string{"S30"}, Scenario: activation,
			provider: func(r *memprovider.Rules) { r.KeepsActivation = false }},
		{ID: "provider/migration-resets-attempts", Summary: "a migration of the schema resets all attempt counts",
			Properties: []string{"S04"}, Scenario: schemas,
			provider: func(r *memprovider.Rules) { r.MigratedCount = func(uint32) uint32 { return 0 } }},
		{ID: "provider/migration-forgets-pins", Summary: "a migration of the schema loses the pins",
			Properties: []string{"S09"}, Scenario: schemas,
			provider: func(r *memprovider.Rules) { r.MigratedPin = func(*engine.Version) *engine.Version { return nil } }},
		{ID: "provider/migration-frees-locks", Summary: "a migration of the schema releases the locks of all instances",
			Properties: []string{"S05"}, Scenario: schemas,
			provider: func(r *memprovider.Rules) { r.MigrationFreesLocks = true }},
		{ID: "provider/exclusive-lower-bound", Summary: "the lower end of a range is treated as exclusive",
			Properties: []string{"S22", "L09"}, Scenario: edges,
			provider: func(r *memprovider.Rules) { r.Admits = admitsAbove }},
		{ID: "provider/pin-not-written", Summary: "an ack does not write its pin",
			Properties: []string{"S09"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) {
				r.PinAfterAck = func(_, old, _ *engine.Version) *engine.Version { return old }
			}},
		{ID: "provider/execution-pointer-kept", Summary: "an ack of a newer execution does not make that execution the current one",
			Properties: []string{"S06"}, Scenario: continueNew,
			provider: func(r *memprovider.Rules) { r.PointerAfterAck = func(current, _ uint64) uint64 { return current } }},
		{ID: "provider/least-count", Summary: "a delivery reports the lowest attempt count of its batch",
			Properties: []string{"S04"}, Scenario: crashes,
			provider: func(r *memprovider.Rules) { r.BatchCount = func(told, next uint32) uint32 { return min(told, next) } }},
		{ID: "provider/abandon-counts", Summary: "an abandon counts as another attempt",
			Properties: []string{"S04"}, Scenario: badHistory,
			provider: func(r *memprovider.Rules) {
				r.CountAfterAbandon = func(count uint32, _ bool) uint32 { return count + 1 }
			}},
		{ID: "provider/renewal-does-nothing", Summary: "a renewal succeeds but does not move the end of the lock",
			Properties: []string{"S05", "S19"}, Scenario: slowWork,
			provider: func(r *memprovider.Rules) {
				r.RenewedUntil = func(_, endMs, _ int64) int64 { return endMs }
			}},
		{ID: "provider/custom-status-version-kept", Summary: "a new custom status does not raise the version",
			Properties: []string{"S17"}, Scenario: features,
			provider: func(r *memprovider.Rules) {
				r.CustomStatusVersion = func(version uint64, _ int) uint64 { return version }
			}},
		{ID: "provider/kv-never-merged", Summary: "the end of an execution does not merge its keys",
			Properties: []string{"S17"}, Scenario: features,
			provider: func(r *memprovider.Rules) { r.MergesKV = func(engine.Status) bool { return false } }},
		{ID: "provider/kv-not-merged-on-completion", Summary: "a failure or continue-as-new merges the keys, but a completion does not",
			Properties: []string{"S17"}, Scenario: programs,
			provider: func(r *memprovider.Rules) {
				r.MergesKV = func(s engine.Status) bool { return s.Terminal() && s != engine.StatusCompleted }
			}},
		{ID: "provider/batch-not-consumed", Summary: "an ack leaves its messages in the queue",
			Properties: []string{"S06"}, Scenario: upgrade,
			provider: func(r *memprovider.Rules) { r.Consumes = func(bool) bool { return false } }},
		{ID: "provider/cancelled-work-kept", Summary: "an ack does not delete the activities that it cancels",
			Properties: []string{"S06"}, Scenario: races,
			provider: func(r *memprovider.Rules) {
				r.Cancels = func(uint64, uint64, bool, engine.ScheduledActivityIdentifier) bool { return false }
			}},
		{ID: "provider/cancel-ignores-activity", Summary: "cancelling an activity deletes all activities of its execution",
			Properties: []string{"S12", "L02"}, Scenario: races,
			provider: func(r *memprovider.Rules) {
				r.Cancels = func(execution, _ uint64, _ bool, id engine.ScheduledActivityIdentifier) bool {
					return execution == id.ExecutionID
				}
			}},
		{ID: "provider/delete-leaves-row", Summary: "a deletion leaves the instances row",
			Properties: []string{"S14"}, Scenario: retention,
			provider: leaves(memprovider.DeleteRow)},
	}
}
