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
	return watch(p, build, nowMs, func() uint64 { return 0 }, func(c Call, a Answer, at Span, _ uint64) { tell(c, a, at) })
}

// watch is Watch with numbers that begin gives and end gets back.
func watch(p engine.Provider, build string, now func() int64, begin func() uint64, end func(c Call, a Answer, at Span, began uint64)) engine.Provider {
	return Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, args Args) Answer {
		number, began := begin(), now()
		c := Call{Build: build, Args: args}
		a := Perform(ctx, p, c)
		end(c, a, Between(began, now()), number)
		return a
	})
}

// Through makes a provider of a function that makes calls, whatever its way. The name and the version are the
// provider's; it has a management surface if it manages. It may be used concurrently if the function may.
func Through(name, version string, manages bool, call func(ctx context.Context, args Args) Answer) engine.Provider {
	return &through{name: name, version: version, manages: manages, do: func(ctx context.Context, args Args) Answer {
		a := call(ctx, args)
		if a.Err != nil && a.cause == nil {
			a.cause = &engine.ProviderError{Operation: string(args.Method()), Message: a.Err.Message, Retryable: a.Err.Retryable}
		}
		return a
	}}
}

type through struct {
	name, version string
	manages       bool
	do            func(ctx context.Context, args Args) Answer
}

func millis(d time.Duration) int64 { return max(d.Milliseconds(), 0) }

func (w *through) Name() string    { return w.name }
func (w *through) Version() string { return w.version }

func (w *through) Admin() engine.ProviderAdmin {
	if !w.manages {
		return nil
	}
	return throughAdmin{w}
}

func (w *through) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	return w.do(ctx, EnqueueForOrchestrator{Item{item}, millis(delay)}).cause
}

func (w *through) FetchOrchestrationItem(ctx context.Context, lock, poll time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	args := FetchOrchestrationItem{LockTimeoutMs: millis(lock), PollTimeoutMs: millis(poll)}
	if filter != nil {
		args.Filter = &Filter{filter.SupportedVersions}
	}
	a := w.do(ctx, args)
	return a.Item.engine(), a.cause
}

func (w *through) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	return w.do(ctx, ackOf(ack)).cause
}

func (w *through) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonOrchestrationItem{token, millis(delay), ignoreAttempt}).cause
}

func (w *through) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewOrchestrationItemLock{token, millis(extendFor)}).cause
}

func (w *through) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	a := w.do(ctx, Read{instance})
	return a.Events, a.cause
}

func (w *through) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	a := w.do(ctx, ReadWithExecution{instance, executionID})
	return a.Events, a.cause
}

func (w *through) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []engine.Event) error {
	return w.do(ctx, AppendWithExecution{instance, executionID, events}).cause
}

func (w *through) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	return w.do(ctx, EnqueueForWorker{Item{item}}).cause
}

func (w *through) FetchWorkItem(ctx context.Context, lock, poll time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	args := FetchWorkItem{LockTimeoutMs: millis(lock), PollTimeoutMs: millis(poll), Tags: Tags{TagMode(tags.Mode), tags.Tags}}
	if session != nil {
		args.Session = &Session{session.OwnerID, millis(session.LockTimeout)}
	}
	a := w.do(ctx, args)
	return a.Work.engine(), a.cause
}

func (w *through) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	return w.do(ctx, AckWorkItem{token, Item{completion}}).cause
}

func (w *through) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewWorkItemLock{token, millis(extendFor)}).cause
}

func (w *through) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonWorkItem{token, millis(delay), ignoreAttempt}).cause
}

func (w *through) RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, RenewSessionLock{owners, millis(extendFor), millis(idleTimeout)})
	return a.Count, a.cause
}

func (w *through) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, CleanupOrphanedSessions{millis(idleTimeout)})
	return a.Count, a.cause
}

func (w *through) GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	a := w.do(ctx, GetCustomStatus{instance, lastSeen})
	return a.CustomStatus, a.cause
}

func (w *through) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	a := w.do(ctx, GetKVValue{instance, key})
	return a.Value, a.cause
}

func (w *through) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	a := w.do(ctx, GetKVAllValues{instance})
	return a.Pairs, a.cause
}

func (w *through) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	a := w.do(ctx, GetInstanceStats{instance})
	return a.Stats, a.cause
}
