package wire

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
)

var (
	_ engine.Provider      = (*Client)(nil)
	_ engine.ProviderAdmin = (*Client)(nil)
)

// Name is what the other side called itself.
func (c *Client) Name() string { return c.described.Name }

// Version is what the other side said.
func (c *Client) Version() string { return c.described.Version }

// Admin is c, if the other side has a management surface.
func (c *Client) Admin() engine.ProviderAdmin {
	if !c.described.Admin {
		return nil
	}
	return c
}

// EnqueueForOrchestrator asks.
func (c *Client) EnqueueForOrchestrator(ctx context.Context, w engine.WorkItem, delay time.Duration) error {
	return tell(ctx, c, "enqueue_for_orchestrator", enqueueOrch{item{w}, wrapDuration(delay)})
}

// FetchOrchestrationItem asks, and waits for the poll timeout longer.
func (c *Client) FetchOrchestrationItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, f *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	var result *fetchedOrchestration
	params := fetchOrch{wrapDuration(lockTimeout), wrapDuration(pollTimeout), wrapFilter(f)}
	err := call(ctx, c, "fetch_orchestration_item", pollTimeout, params, &result)
	return result.plain(), err
}

// AckOrchestrationItem asks.
func (c *Client) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	return tell(ctx, c, "ack_orchestration_item", wrapAck(ack))
}

// AbandonOrchestrationItem asks.
func (c *Client) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return tell(ctx, c, "abandon_orchestration_item", abandon{token, wrapDuration(delay), ignoreAttempt})
}

// RenewOrchestrationItemLock asks.
func (c *Client) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return tell(ctx, c, "renew_orchestration_item_lock", renew{token, wrapDuration(extendFor)})
}

func (c *Client) events(ctx context.Context, method string, params any) ([]engine.Event, error) {
	events, err := ask[[]event](ctx, c, method, params)
	return plainEvents(events), err
}

// Read asks.
func (c *Client) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	return c.events(ctx, "read", instanceRef{instance})
}

// ReadWithExecution asks.
func (c *Client) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	return c.events(ctx, "read_with_execution", executionRef{instance, executionID})
}

// AppendWithExecution asks.
func (c *Client) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []engine.Event) error {
	return tell(ctx, c, "append_with_execution", appendEvents{instance, executionID, wrapEvents(events)})
}

// EnqueueForWorker asks.
func (c *Client) EnqueueForWorker(ctx context.Context, w engine.WorkItem) error {
	return tell(ctx, c, "enqueue_for_worker", enqueueWork{item{w}})
}

// FetchWorkItem asks, and waits for the poll timeout longer.
func (c *Client) FetchWorkItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, s *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	params := fetchWork{wrapDuration(lockTimeout), wrapDuration(pollTimeout), nil, tagFilter{tags}}
	if s != nil {
		params.Session = &session{s.OwnerID, wrapDuration(s.LockTimeout)}
	}
	var result *fetchedWork
	err := call(ctx, c, "fetch_work_item", pollTimeout, params, &result)
	if result == nil || err != nil {
		return nil, err
	}
	return &engine.FetchedWork{Item: result.Item.WorkItem, LockToken: result.LockToken, AttemptCount: result.AttemptCount}, nil
}

// AckWorkItem asks.
func (c *Client) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	params := ackWork{LockToken: token}
	if completion != nil {
		params.Completion = &item{completion}
	}
	return tell(ctx, c, "ack_work_item", params)
}

// RenewWorkItemLock asks.
func (c *Client) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return tell(ctx, c, "renew_work_item_lock", renew{token, wrapDuration(extendFor)})
}

// AbandonWorkItem asks.
func (c *Client) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return tell(ctx, c, "abandon_work_item", abandon{token, wrapDuration(delay), ignoreAttempt})
}

// RenewSessionLock asks.
func (c *Client) RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	return ask[int](ctx, c, "renew_session_lock", renewSession{append([]string{}, owners...), wrapDuration(extendFor), wrapDuration(idleTimeout)})
}

// CleanupOrphanedSessions asks.
func (c *Client) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	return ask[int](ctx, c, "cleanup_orphaned_sessions", cleanupSessions{wrapDuration(idleTimeout)})
}

// GetCustomStatus asks.
func (c *Client) GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	s, err := ask[*customStatus](ctx, c, "get_custom_status", customStatusRef{instance, lastSeen})
	return (*engine.CustomStatus)(s), err
}

// GetKVValue asks.
func (c *Client) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	return ask[*string](ctx, c, "get_kv_value", kvRef{instance, key})
}

// GetKVAllValues asks.
func (c *Client) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	pairs, err := ask[map[string]string](ctx, c, "get_kv_all_values", instanceRef{instance})
	return plainPairs(pairs), err
}

// GetInstanceStats asks.
func (c *Client) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	return ask[*engine.SystemStats](ctx, c, "get_instance_stats", instanceRef{instance})
}
