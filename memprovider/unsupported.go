package memprovider

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
)

// unsupported is the answer of everything that the store does not do yet. It is permanent, and nothing has changed.
func unsupported(op, what string) *engine.ProviderError {
	return engine.Permanentf(op, "%s: not supported by memprovider", what)
}

// refuse makes a call that does nothing but say so.
func (p *Provider) refuse(kind engine.CallKind, op, what string) error {
	p.store.begin(kind, p.caller)
	p.store.started()
	return p.store.end(result{}, unsupported(op, what))
}

// unsupportedEvent refuses the kinds that an ack would have to materialise.
func unsupportedEvent(e *engine.Event) *engine.ProviderError {
	switch e.Kind() {
	case engine.KindCustomStatusUpdated:
		return unsupported(opAckOrchestration, "custom status")
	case engine.KindKeyValueSet, engine.KindKeyValueCleared, engine.KindKeyValuesCleared:
		return unsupported(opAckOrchestration, "key-value store")
	}
	return nil
}

// RenewSessionLock is not supported.
func (p *Provider) RenewSessionLock(context.Context, []string, time.Duration, time.Duration) (int, error) {
	return 0, p.refuse(engine.CallRenewSessionLock, "renew_session_lock", "sessions")
}

// CleanupOrphanedSessions is not supported.
func (p *Provider) CleanupOrphanedSessions(context.Context, time.Duration) (int, error) {
	return 0, p.refuse(engine.CallCleanupOrphanedSessions, "cleanup_orphaned_sessions", "sessions")
}

// GetCustomStatus is not supported.
func (p *Provider) GetCustomStatus(context.Context, string, uint64) (*engine.CustomStatus, error) {
	return nil, p.refuse(engine.CallGetCustomStatus, "get_custom_status", "custom status")
}

// GetKVValue is not supported.
func (p *Provider) GetKVValue(context.Context, string, string) (*string, error) {
	return nil, p.refuse(engine.CallGetKVValue, "get_kv_value", "key-value store")
}

// GetKVAllValues is not supported.
func (p *Provider) GetKVAllValues(context.Context, string) ([]engine.KVPair, error) {
	return nil, p.refuse(engine.CallGetKVAllValues, "get_kv_all_values", "key-value store")
}

// GetInstanceStats is not supported.
func (p *Provider) GetInstanceStats(context.Context, string) (*engine.SystemStats, error) {
	return nil, p.refuse(engine.CallGetInstanceStats, "get_instance_stats", "statistics")
}

// DeleteInstance is not supported.
func (p *Provider) DeleteInstance(context.Context, string, bool) (*engine.DeleteInstanceResult, error) {
	return nil, p.refuse(engine.CallAdmin, "delete_instance", "deletion")
}

// DeleteInstancesAtomic is not supported.
func (p *Provider) DeleteInstancesAtomic(context.Context, []string, bool) (*engine.DeleteInstanceResult, error) {
	return nil, p.refuse(engine.CallAdmin, "delete_instances_atomic", "deletion")
}

// DeleteInstanceBulk is not supported.
func (p *Provider) DeleteInstanceBulk(context.Context, engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	return nil, p.refuse(engine.CallAdmin, "delete_instance_bulk", "deletion")
}

// PruneExecutions is not supported.
func (p *Provider) PruneExecutions(context.Context, string, engine.PruneOptions) (*engine.PruneResult, error) {
	return nil, p.refuse(engine.CallAdmin, "prune_executions", "pruning")
}

// PruneExecutionsBulk is not supported.
func (p *Provider) PruneExecutionsBulk(context.Context, engine.InstanceFilter, engine.PruneOptions) (*engine.PruneResult, error) {
	return nil, p.refuse(engine.CallAdmin, "prune_executions_bulk", "pruning")
}
