package oracle

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
)

// Watcher is told of each call of a watched provider, with its answer, when it has returned. It took effect at some
// instant of the span.
type Watcher func(c Call, a Answer, at Span)

// Watch wraps a provider, its management surface included, so that every call is reported. Answers pass unchanged. Calls
// pass through concurrently if the caller makes them so; then the watcher must allow for it. Build names what the
// provider's handle decodes (see Call), nowMs is the store's time in milliseconds.
func Watch(p engine.Provider, build string, nowMs func() int64, tell Watcher) engine.Provider {
	return &watched{
		inner: p, build: build, now: nowMs, begin: func() uint64 { return 0 },
		end: func(c Call, a Answer, at Span, _ uint64) { tell(c, a, at) },
	}
}

type watched struct {
	inner engine.Provider
	build string
	now   func() int64
	begin func() uint64
	end   func(c Call, a Answer, at Span, began uint64)
}

func (w *watched) do(ctx context.Context, args Args) Answer {
	number, began := w.begin(), w.now()
	c := Call{Build: w.build, Args: args}
	a := Perform(ctx, w.inner, c)
	w.end(c, a, Between(began, w.now()), number)
	return a
}

func millis(d time.Duration) int64 { return max(d.Milliseconds(), 0) }

func (w *watched) Name() string    { return w.inner.Name() }
func (w *watched) Version() string { return w.inner.Version() }

func (w *watched) Admin() engine.ProviderAdmin {
	if w.inner.Admin() == nil {
		return nil
	}
	return watchedAdmin{w}
}

func (w *watched) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	return w.do(ctx, EnqueueForOrchestrator{Item{item}, millis(delay)}).cause
}

func (w *watched) FetchOrchestrationItem(ctx context.Context, lock, poll time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	args := FetchOrchestrationItem{LockTimeoutMs: millis(lock), PollTimeoutMs: millis(poll)}
	if filter != nil {
		args.Filter = &Filter{filter.SupportedVersions}
	}
	a := w.do(ctx, args)
	return a.Item.engine(), a.cause
}

func (w *watched) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	return w.do(ctx, ackOf(ack)).cause
}

func (w *watched) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonOrchestrationItem{token, millis(delay), ignoreAttempt}).cause
}

func (w *watched) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewOrchestrationItemLock{token, millis(extendFor)}).cause
}

func (w *watched) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	a := w.do(ctx, Read{instance})
	return a.Events, a.cause
}

func (w *watched) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	a := w.do(ctx, ReadWithExecution{instance, executionID})
	return a.Events, a.cause
}

func (w *watched) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []engine.Event) error {
	return w.do(ctx, AppendWithExecution{instance, executionID, events}).cause
}

func (w *watched) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	return w.do(ctx, EnqueueForWorker{Item{item}}).cause
}

func (w *watched) FetchWorkItem(ctx context.Context, lock, poll time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	args := FetchWorkItem{LockTimeoutMs: millis(lock), PollTimeoutMs: millis(poll), Tags: Tags{TagMode(tags.Mode), tags.Tags}}
	if session != nil {
		args.Session = &Session{session.OwnerID, millis(session.LockTimeout)}
	}
	a := w.do(ctx, args)
	return a.Work.engine(), a.cause
}

func (w *watched) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	return w.do(ctx, AckWorkItem{token, Item{completion}}).cause
}

func (w *watched) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewWorkItemLock{token, millis(extendFor)}).cause
}

func (w *watched) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonWorkItem{token, millis(delay), ignoreAttempt}).cause
}

func (w *watched) RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, RenewSessionLock{owners, millis(extendFor), millis(idleTimeout)})
	return a.Count, a.cause
}

func (w *watched) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, CleanupOrphanedSessions{millis(idleTimeout)})
	return a.Count, a.cause
}

func (w *watched) GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	a := w.do(ctx, GetCustomStatus{instance, lastSeen})
	return a.CustomStatus, a.cause
}

func (w *watched) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	a := w.do(ctx, GetKVValue{instance, key})
	return a.Value, a.cause
}

func (w *watched) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	a := w.do(ctx, GetKVAllValues{instance})
	return a.Pairs, a.cause
}

func (w *watched) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	a := w.do(ctx, GetInstanceStats{instance})
	return a.Stats, a.cause
}
