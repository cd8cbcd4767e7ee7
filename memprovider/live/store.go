package live

import (
	"sync"
	"time"

	"github.com/durosim/durosim/memprovider"
)

// Store is a store that many goroutines share. Its methods and those of its handles may be called concurrently.
type Store struct {
	start   time.Time
	startMs int64

	mu    sync.Mutex
	inner *memprovider.Store
	// seen is the generation that waiting fetches have seen; changed is closed when there is a newer one.
	seen    uint64
	changed chan struct{}
	// closed is closed by Close.
	closed chan struct{}
}

// Open returns an empty store that runs on the wall clock; it ignores the StartMs option. The store can be
// garbage-collected without Close, but a fetch that waits keeps waiting without it.
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

// Do runs f with exclusive access to the store, for operations other than provider calls: preloading, damage,
// snapshots. The store's time is set to now first. f must not keep the store or call s.
func (s *Store) Do(f func(store *memprovider.Store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	defer s.publish()
	f(s.inner)
}

// tick advances the store's time to now.
func (s *Store) tick() {
	if ms := s.startMs + time.Since(s.start).Milliseconds(); ms > s.inner.Now() {
		s.inner.SetNow(ms)
	}
}

// publish wakes the waiting fetches if the store has changed.
func (s *Store) publish() {
	if g := s.inner.Generation(); g != s.seen {
		s.seen = g
		close(s.changed)
		s.changed = make(chan struct{})
	}
}
