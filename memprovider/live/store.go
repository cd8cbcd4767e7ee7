package live

import (
	"context"
	"sync"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// Store is a store that many goroutines share. Its methods and those of its handles may be called concurrently.
type Store struct {
	start   time.Time
	startMs int64

	mu    sync.Mutex
	inner *memprovider.Store
	// seen is the generation that waiters know of, changed is closed when there is another one.
	seen    uint64
	changed chan struct{}
	// closed is closed by Close.
	closed chan struct{}
}

// Open makes an empty store that runs with the wall clock; StartMs of the options does not count. It needs no Close to be
// collected, but whoever waits in a fetch keeps waiting without it.
func Open(o memprovider.Options) *Store {
	s := &Store{start: time.Now(), changed: make(chan struct{}), closed: make(chan struct{})}
	s.startMs = s.start.UnixMilli()
	o.StartMs = s.startMs
	s.inner = memprovider.New(o)
	return s
}

// Close ends the store. Closing it again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isClosed() {
		close(s.closed)
	}
	return nil
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// Do runs f with the store to itself, for what is no provider call: seeding, damage, snapshots. Its time is now. f must
// not keep the store, nor call s.
func (s *Store) Do(f func(store *memprovider.Store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	defer s.publish()
	f(s.inner)
}

// Handle is the store as one caller sees it, as memprovider.Store.Handle says.
func (s *Store) Handle(codec engine.Codec, caller engine.Caller) *Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Provider{store: s, inner: s.inner.Handle(codec, caller)}
}

// tick moves the store's time on.
func (s *Store) tick() {
	if ms := s.startMs + time.Since(s.start).Milliseconds(); ms > s.inner.Now() {
		s.inner.SetNow(ms)
	}
}

// publish wakes the waiters if the store has changed.
func (s *Store) publish() {
	if g := s.inner.Generation(); g != s.seen {
		s.seen = g
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// enter begins a call: it locks the store and tells it the time. Unless it fails, leave must follow.
func (s *Store) enter(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return ended(ctx, op)
	}
	s.mu.Lock()
	if s.isClosed() {
		s.mu.Unlock()
		return engine.Permanentf(op, "the store is closed")
	}
	s.tick()
	return nil
}

func (s *Store) leave() {
	s.publish()
	s.mu.Unlock()
}

func ended(ctx context.Context, op string) error {
	return engine.Retryablef(op, "the call was given up: %w", context.Cause(ctx))
}

// call makes one provider call.
func call[T any](p *Provider, ctx context.Context, op string, do func(*memprovider.Provider) (T, error)) (T, error) {
	if err := p.store.enter(ctx, op); err != nil {
		var none T
		return none, err
	}
	defer p.store.leave()
	return do(p.inner)
}

// poll fetches until there is something, the fetch fails, or the time is up. next says when it is worth looking again
// although the store has not changed.
func poll[T any](p *Provider, ctx context.Context, op string, timeout time.Duration, fetch func() (*T, error), next func() memprovider.Eligibility) (*T, error) {
	s := p.store
	var deadline <-chan time.Time
	for {
		found, changed, wait, err := look(s, ctx, op, fetch, next)
		if found != nil || err != nil || timeout <= 0 {
			return found, err
		}
		if deadline == nil {
			timer := time.NewTimer(timeout)
			defer timer.Stop()
			deadline = timer.C
		}
		due := time.NewTimer(wait)
		select {
		case <-changed:
		case <-due.C:
		case <-s.closed:
		case <-deadline:
			due.Stop()
			return nil, nil
		case <-ctx.Done():
			due.Stop()
			return nil, ended(ctx, op)
		}
		due.Stop()
	}
}

// look fetches once. When it finds nothing, changed is closed by the next change, and wait is how long time alone changes
// nothing; both are as of the fetch.
func look[T any](s *Store, ctx context.Context, op string, fetch func() (*T, error), next func() memprovider.Eligibility) (found *T, changed <-chan struct{}, wait time.Duration, err error) {
	if err := s.enter(ctx, op); err != nil {
		return nil, nil, 0, err
	}
	defer s.mu.Unlock()
	found, err = fetch()
	s.publish()
	return found, s.changed, until(s.inner.Now(), next().AtMs), err
}

// until is the time from now to then, at least a millisecond, and not longer than a timer can be set.
func until(nowMs, thenMs int64) time.Duration {
	const longest = int64(24 * time.Hour / time.Millisecond)
	return time.Duration(min(max(thenMs-nowMs, 1), longest)) * time.Millisecond
}
