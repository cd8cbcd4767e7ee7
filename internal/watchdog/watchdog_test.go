package watchdog

import (
	"iter"
	"sync/atomic"
	"testing"
	"time"
)

type subject struct{}

func (subject) Running() (code, instance string) { return "code", "i" }

// TestBusyMachine checks that code which gets no processor is not stuck, and that code which had one for the limit is.
func TestBusyMachine(t *testing.T) {
	var over atomic.Bool
	defer over.Store(true)
	for _, uses := range []time.Duration{0, time.Millisecond} {
		var asked atomic.Int64
		w := &Watch{used: func() time.Duration { return time.Duration(asked.Add(1)) * uses }}
		stuck := w.Guard(20*time.Millisecond, func() {
			w.Enter(subject{})
			next, stop := iter.Pull(func(func(int) bool) {
				inner, _ := iter.Pull(func(func(int) bool) {
					for !over.Load() && (uses > 0 || asked.Load() < 20) {
						continue
					}
				})
				inner()
			})
			defer stop()
			next()
			w.Leave()
		})
		if at := placeOf("/a/b.go:1 +0x12") + placeOf("/a/b.go:11"); (stuck != nil) != (uses > 0) || at != "b.gob.go:11" {
			t.Errorf("with %v of processor time at each look: %+v; places %s", uses, stuck, at)
		}
	}
}
