package live

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/memprovider"
)

// Handle returns the store as seen by one caller, like [memprovider.Store.Handle]. It is safe for concurrent use.
func (s *Store) Handle(codec engine.Codec, caller memprovider.Caller) engine.Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	inner := s.inner.Handle(codec, caller)
	return call.Through("memprovider/live", inner.Version(), true, func(ctx context.Context, c call.Call) call.Answer {
		switch fetch := c.(type) {
		case call.FetchOrchestrationItem:
			return s.poll(ctx, inner, c, fetch.PollTimeout, func() memprovider.Eligibility { return s.inner.NextOrchestration(fetch.Filter) })
		case call.FetchWorkItem:
			return s.poll(ctx, inner, c, fetch.PollTimeout, func() memprovider.Eligibility { return s.inner.NextWork(fetch.Session, fetch.Tags) })
		}
		return s.perform(ctx, inner, c)
	})
}

// enter begins a call: it locks the store and sets the store's time. Unless it fails, the caller must unlock the store.
func (s *Store) enter(ctx context.Context, c call.Call) error {
	if ctx.Err() != nil {
		return ended(ctx, c)
	}
	s.mu.Lock()
	if s.isClosed() {
		s.mu.Unlock()
		return engine.Permanentf(call.Method(c), "the store is closed")
	}
	s.tick()
	return nil
}

func ended(ctx context.Context, c call.Call) error {
	return engine.Retryablef(call.Method(c), "the call was cancelled: %w", context.Cause(ctx))
}

// perform makes a call that does not wait for work.
func (s *Store) perform(ctx context.Context, p engine.Provider, c call.Call) call.Answer {
	if err := s.enter(ctx, c); err != nil {
		return call.Answer{Err: err}
	}
	defer s.mu.Unlock()
	defer s.publish()
	return call.Perform(ctx, p, c)
}

// poll fetches repeatedly until it finds something, a fetch fails, or the timeout elapses. next returns when to fetch
// again if the store does not change.
func (s *Store) poll(ctx context.Context, p engine.Provider, c call.Call, timeout time.Duration, next func() memprovider.Eligibility) call.Answer {
	var deadline <-chan time.Time
	for {
		found, changed, wait := s.look(ctx, p, c, next)
		if found.Orchestration != nil || found.Work != nil || found.Err != nil || timeout <= 0 {
			return found
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
			return call.Answer{}
		case <-ctx.Done():
			due.Stop()
			return call.Answer{Err: ended(ctx, c)}
		}
		due.Stop()
	}
}

// look fetches once. If it finds nothing, it returns a channel that is closed at the store's next change, and the time
// until something becomes eligible without a change.
func (s *Store) look(ctx context.Context, p engine.Provider, c call.Call, next func() memprovider.Eligibility) (found call.Answer, changed <-chan struct{}, wait time.Duration) {
	if err := s.enter(ctx, c); err != nil {
		return call.Answer{Err: err}, nil, 0
	}
	defer s.mu.Unlock()
	found = call.Perform(ctx, p, c)
	s.publish()
	return found, s.changed, until(s.inner.Now(), next().AtMs)
}

// until returns the time from now to then. It is at least a millisecond and at most the longest wait for which a timer
// is set.
func until(nowMs, thenMs int64) time.Duration {
	const longest = int64(24 * time.Hour / time.Millisecond)
	return time.Duration(min(max(thenMs-nowMs, 1), longest)) * time.Millisecond
}
