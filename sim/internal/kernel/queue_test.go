package kernel_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

// TestOrder takes events out among others that are added, near and far from now and at equal times, and compares each with
// the first of a list.
func TestOrder(t *testing.T) {
	type added struct {
		at       sim.Time
		priority uint64
		n        int
	}
	chooser := sim.Random(1)
	k := sample.Must(kernel.New[int](kernel.Options{Chooser: chooser}))(t)
	delays := []time.Duration{0, 0, time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond, time.Second}
	var list []added
	draw := uint64(1)
	for n := range 5000 {
		draw = draw*6364136223846793005 + 1442695040888963407
		at := k.Now().Add(delays[draw>>61])
		key := sim.RootKey(false).Num(labelNode, uint64(n))
		k.At(at, key, n)
		list = append(list, added{at, chooser.Priority(key), n})
		if draw>>40&3 == 0 { // one in four, so that the queue grows
			continue
		}
		slices.SortFunc(list, func(a, b added) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.priority, b.priority)) })
		got, ok := k.Next()
		if !ok || got != list[0].n || k.Now() != list[0].at {
			t.Fatalf("event %d at %v, want %d at %v", got, k.Now(), list[0].n, list[0].at)
		}
		if list = list[1:]; k.Len() != len(list) {
			t.Fatalf("%d events wait, want %d", k.Len(), len(list))
		}
	}
}
