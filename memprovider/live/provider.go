package live

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// Provider is a Store as one caller sees it. It implements engine.Provider and engine.ProviderAdmin, and may be used by
// many goroutines.
type Provider struct {
	store *Store
	inner *memprovider.Provider
}

var (
	_ engine.Provider      = (*Provider)(nil)
	_ engine.ProviderAdmin = (*Provider)(nil)
)

// run makes a provider call without an answer.
func run(p *Provider, ctx context.Context, op string, do func(*memprovider.Provider) error) error {
	if err := p.store.enter(ctx, op); err != nil {
		return err
	}
	defer p.store.leave()
	return do(p.inner)
}

// Name is "memprovider/live".
func (p *Provider) Name() string { return "memprovider/live" }

// Version is that of memprovider.
func (p *Provider) Version() string { return p.inner.Version() }

// Admin is the provider itself.
func (p *Provider) Admin() engine.ProviderAdmin { return p }

// Store is the store behind the handle.
func (p *Provider) Store() *Store { return p.store }

// FetchOrchestrationItem implements engine.Provider. It waits for work up to the poll timeout.
func (p *Provider) FetchOrchestrationItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	return poll(p, ctx, "fetch_orchestration_item", pollTimeout,
		func() (*engine.FetchedOrchestration, error) {
			return p.inner.FetchOrchestrationItem(ctx, lockTimeout, 0, filter)
		},
		func() memprovider.Eligibility { return p.store.inner.NextOrchestration(filter) })
}

// FetchWorkItem implements engine.Provider. It waits for work up to the poll timeout.
func (p *Provider) FetchWorkItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	return poll(p, ctx, "fetch_work_item", pollTimeout,
		func() (*engine.FetchedWork, error) {
			return p.inner.FetchWorkItem(ctx, lockTimeout, 0, session, tags)
		},
		func() memprovider.Eligibility { return p.store.inner.NextWork(session, tags) })
}

// EnqueueForOrchestrator implements engine.Provider.
func (p *Provider) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	return run(p, ctx, "enqueue_for_orchestrator", func(in *memprovider.Provider) error { return in.EnqueueForOrchestrator(ctx, item, delay) })
}

// AckOrchestrationItem implements engine.Provider.
func (p *Provider) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	return run(p, ctx, "ack_orchestration_item", func(in *memprovider.Provider) error { return in.AckOrchestrationItem(ctx, ack) })
}

// AbandonOrchestrationItem implements engine.Provider.
func (p *Provider) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return run(p, ctx, "abandon_orchestration_item", func(in *memprovider.Provider) error {
		return in.AbandonOrchestrationItem(ctx, token, delay, ignoreAttempt)
	})
}

// RenewOrchestrationItemLock implements engine.Provider.
func (p *Provider) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return run(p, ctx, "renew_orchestration_item_lock", func(in *memprovider.Provider) error { return in.RenewOrchestrationItemLock(ctx, token, extendFor) })
}

// Read implements engine.Provider.
func (p *Provider) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	return call(p, ctx, "read", func(in *memprovider.Provider) ([]engine.Event, error) { return in.Read(ctx, instance) })
}

// ReadWithExecution implements engine.Provider.
func (p *Provider) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	return call(p, ctx, "read_with_execution", func(in *memprovider.Provider) ([]engine.Event, error) {
		return in.ReadWithExecution(ctx, instance, executionID)
	})
}

// AppendWithExecution implements engine.Provider.
func (p *Provider) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []engine.Event) error {
	return run(p, ctx, "append_with_execution", func(in *memprovider.Provider) error {
		return in.AppendWithExecution(ctx, instance, executionID, events)
	})
}

// EnqueueForWorker implements engine.Provider.
func (p *Provider) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	return run(p, ctx, "enqueue_for_worker", func(in *memprovider.Provider) error { return in.EnqueueForWorker(ctx, item) })
}

// AckWorkItem implements engine.Provider.
func (p *Provider) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	return run(p, ctx, "ack_work_item", func(in *memprovider.Provider) error { return in.AckWorkItem(ctx, token, completion) })
}

// RenewWorkItemLock implements engine.Provider.
func (p *Provider) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return run(p, ctx, "renew_work_item_lock", func(in *memprovider.Provider) error { return in.RenewWorkItemLock(ctx, token, extendFor) })
}

// AbandonWorkItem implements engine.Provider.
func (p *Provider) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return run(p, ctx, "abandon_work_item", func(in *memprovider.Provider) error { return in.AbandonWorkItem(ctx, token, delay, ignoreAttempt) })
}

// RenewSessionLock implements engine.Provider.
func (p *Provider) RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	return call(p, ctx, "renew_session_lock", func(in *memprovider.Provider) (int, error) {
		return in.RenewSessionLock(ctx, owners, extendFor, idleTimeout)
	})
}

// CleanupOrphanedSessions implements engine.Provider.
func (p *Provider) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	return call(p, ctx, "cleanup_orphaned_sessions", func(in *memprovider.Provider) (int, error) { return in.CleanupOrphanedSessions(ctx, idleTimeout) })
}

// GetCustomStatus implements engine.Provider.
func (p *Provider) GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	return call(p, ctx, "get_custom_status", func(in *memprovider.Provider) (*engine.CustomStatus, error) {
		return in.GetCustomStatus(ctx, instance, lastSeen)
	})
}

// GetKVValue implements engine.Provider.
func (p *Provider) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	return call(p, ctx, "get_kv_value", func(in *memprovider.Provider) (*string, error) { return in.GetKVValue(ctx, instance, key) })
}

// GetKVAllValues implements engine.Provider.
func (p *Provider) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	return call(p, ctx, "get_kv_all_values", func(in *memprovider.Provider) ([]engine.KVPair, error) { return in.GetKVAllValues(ctx, instance) })
}

// GetInstanceStats implements engine.Provider.
func (p *Provider) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	return call(p, ctx, "get_instance_stats", func(in *memprovider.Provider) (*engine.SystemStats, error) { return in.GetInstanceStats(ctx, instance) })
}
