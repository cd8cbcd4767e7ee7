package live

import (
	"sync"
	"time"

	"github.com/durosim/durosim/memprovider"
)

// Store is a memprovider.Store that goroutines can share. It and its handles are safe for concurrent use.
type Store struct {
	start   time.Time
	startMs int64

	mu    sync.Mutex
	inner *memprovider.Store
	// seen is the generation that waiting fetches have seen. changed is closed when there is a newer one.
	seen    uint64
	changed chan struct{}
	// closed is closed by Close.
	closed chan struct{}
}

// Open returns an empty store that runs on the wall clock. It ignores the StartMs option. A store that is not closed
// can still be garbage-collected, but its waiting fetches then keep waiting.
func Open(o memprovider.Options) *Store {
	s := &Store{start: time.Now(), changed: make(chan struct{}), closed: make(chan struct{})}
	s.startMs = s.start.UnixMilli()
	o.StartMs = s.startMs
	s.inner = memprovider.New(o)
	return s
}

// Close closes the store. Closing it again has no effect.
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

// Do calls f with exclusive access to the store, for operations other than provider calls, such as preloading, damage
// and snapshots. The store's time is set first. f must not retain the store or call s.
func (s *Store) Do(f func(store *memprovider.Store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	defer s.publish()
	f(s.inner)
}

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
