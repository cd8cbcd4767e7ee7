package conformance_test

import (
	"testing"
	"time"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
	"github.com/durosim/durosim/properties/conformance"
)

// TestLive runs the cases against the same store under the wall clock, concurrently, with seconds that last a tenth of
// a second. It waits for five of them, and so runs only with DUROSIM_LONG.
func TestLive(t *testing.T) {
	if !sample.All() {
		return
	}
	conformance.Run(t, conformance.Factory{New: func() (*conformance.Store, error) {
		store := live.Open(memprovider.Options{Recheck: true})
		return &conformance.Store{
			Provider: store.Handle(codec(), observe.Caller{Node: 1, Incarnation: 1}),
			NowMs: func() (now int64) {
				store.Do(func(s *memprovider.Store) { now = s.Now() })
				return now
			},
			CorruptHistory: func(instance string, execution, event uint64) (err error) {
				store.Do(func(s *memprovider.Store) { err = s.Damage(instance, execution, event, []byte("{")) })
				return err
			},
			Second:    100 * time.Millisecond,
			LongPolls: true,
			Close: func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			},
		}, nil
	}})
}
