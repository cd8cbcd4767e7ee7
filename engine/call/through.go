package call

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
)

// Through turns do, a function that handles calls, into a provider with that name and version. If manages is set, the
// provider has management methods. The provider returns do's answers unchanged, and is safe for concurrent use if do
// is.
func Through(name, version string, manages bool, do func(ctx context.Context, c Call) Answer) engine.Provider {
	return &through{name: name, version: version, manages: manages, do: do}
}

type through struct {
	name, version string
	manages       bool
	do            func(ctx context.Context, c Call) Answer
}

func (w *through) Name() string    { return w.name }
func (w *through) Version() string { return w.version }

func (w *through) Admin() engine.ProviderAdmin {
	if !w.manages {
		return nil
	}
	return throughAdmin{w}
}

func (w *through) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	return w.do(ctx, EnqueueForOrchestrator{item, delay}).Err
}

func (w *through) FetchOrchestrationItem(ctx context.Context, lock, poll time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	a := w.do(ctx, FetchOrchestrationItem{lock, poll, filter})
	return a.Orchestration, a.Err
}

func (w *through) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	return w.do(ctx, AckOrchestrationItem(ack)).Err
}

func (w *through) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonOrchestrationItem{token, delay, ignoreAttempt}).Err
}

func (w *through) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewOrchestrationItemLock{token, extendFor}).Err
}

func (w *through) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	a := w.do(ctx, Read{instance})
	return a.Events, a.Err
}

func (w *through) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	a := w.do(ctx, ReadWithExecution{instance, executionID})
	return a.Events, a.Err
}

func (w *through) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []engine.Event) error {
	return w.do(ctx, AppendWithExecution{instance, executionID, events}).Err
}

func (w *through) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	return w.do(ctx, EnqueueForWorker{item}).Err
}

func (w *through) FetchWorkItem(ctx context.Context, lock, poll time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	a := w.do(ctx, FetchWorkItem{lock, poll, session, tags})
	return a.Work, a.Err
}

func (w *through) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	return w.do(ctx, AckWorkItem{token, completion}).Err
}

func (w *through) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewWorkItemLock{token, extendFor}).Err
}

func (w *through) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonWorkItem{token, delay, ignoreAttempt}).Err
}

func (w *through) RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, RenewSessionLock{owners, extendFor, idleTimeout})
	return a.Count, a.Err
}

func (w *through) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, CleanupOrphanedSessions{idleTimeout})
	return a.Count, a.Err
}

func (w *through) GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	a := w.do(ctx, GetCustomStatus{instance, lastSeen})
	return a.CustomStatus, a.Err
}

func (w *through) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	a := w.do(ctx, GetKVValue{instance, key})
	return a.Value, a.Err
}

func (w *through) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	a := w.do(ctx, GetKVAllValues{instance})
	return a.Pairs, a.Err
}

func (w *through) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	a := w.do(ctx, GetInstanceStats{instance})
	return a.Stats, a.Err
}
