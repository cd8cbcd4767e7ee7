package kernel

import (
	"math"
	"testing"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
)

// A slot that has used all generations is retired, so its oldest handles cannot match again. A test cannot reuse a slot
// four billion times, so this one sets the counter.
func TestWornOutSlotIsGivenUp(t *testing.T) {
	k := sample.Must(New[int](Options{Chooser: sim.FIFO(0)}))(t)
	oldest := k.At(k.Now(), sim.Key{}, 1)
	k.Next()
	k.slots[oldest.slot].gen = math.MaxUint32
	last := k.At(k.Now(), sim.Key{}, 2)
	if last.slot != oldest.slot || !k.Cancel(last) {
		t.Fatalf("the slot is not reused: %v after %v", last, oldest)
	}
	next := k.At(k.Now(), sim.Key{}, 3)
	if next.slot == oldest.slot {
		t.Error("the worn-out slot is reused")
	}
	for _, h := range []Handle{{}, oldest, last, {slot: 1 << 31, gen: 1}} {
		if k.Cancel(h) {
			t.Errorf("%v cancelled something", h)
		}
	}
	if e, ok := k.Next(); !ok || e != 3 {
		t.Errorf("got %d, %v", e, ok)
	}
}
