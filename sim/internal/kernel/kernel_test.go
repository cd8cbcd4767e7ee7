package kernel_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

func mustKernel[E any](t testing.TB, o kernel.Options) *kernel.Kernel[E] {
	t.Helper()
	return sample.Must(kernel.New[E](o))(t)
}

func drain[E any](k *kernel.Kernel[E]) []E {
	var all []E
	for e, ok := k.Next(); ok; e, ok = k.Next() {
		all = append(all, e)
	}
	return all
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    kernel.Options
		want string
	}{
		{"no chooser", kernel.Options{}, "Chooser is not set"},
		{"before 1970", kernel.Options{Chooser: sim.FIFO(1), Start: -1}, "before 1970"},
		{"budget that overflows", kernel.Options{Chooser: sim.FIFO(1), StepBudget: 1 << 60}, "StepBudget"},
		{"zero is the default", kernel.Options{Chooser: sim.FIFO(1)}, ""},
		{"largest budget", kernel.Options{Chooser: sim.FIFO(1), StepBudget: 1<<60 - 1}, ""},
	} {
		_, err := kernel.New[int](c.o)
		if got := errorText(err); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: error %q, want %q", c.name, got, c.want)
		}
	}
	if now := mustKernel[int](t, kernel.Options{Chooser: sim.FIFO(1)}).Now(); now != sim.Epoch {
		t.Errorf("starts at %d, want the epoch", now)
	}
	if now := mustKernel[int](t, kernel.Options{Chooser: sim.FIFO(1), Start: 5}).Now(); now != 5 {
		t.Errorf("starts at %d, want 5", now)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// fixedOrder takes priorities from a table, by the number in the key.
type fixedOrder struct {
	sim.Chooser
	priorities map[uint64]uint64
}

func (f fixedOrder) Priority(k sim.Key) uint64 { return f.priorities[k.Hash()] }

func TestOrderIsTimeThenPriorityThenSequence(t *testing.T) {
	root := sim.RootKey(false)
	low, high := root.Num(labelCall, 1), root.Num(labelCall, 2)
	chooser := fixedOrder{sim.FIFO(0), map[uint64]uint64{low.Hash(): 1, high.Hash(): math.MaxUint64}}
	k := mustKernel[string](t, kernel.Options{Chooser: chooser})
	k.After(2*time.Millisecond, low, "late, low")
	k.After(time.Millisecond, high, "early, high, first")
	k.After(time.Millisecond, high, "early, high, second")
	k.After(time.Millisecond, low, "early, low, first")
	k.After(time.Millisecond, low, "early, low, second")
	k.At(k.Now(), high, "now")
	want := []string{"now", "early, low, first", "early, low, second", "early, high, first", "early, high, second", "late, low"}
	if got := drain(k); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

// The heap is checked against the sorted order for many shapes, with and without cancellation.
func TestOrderIsTotal(t *testing.T) {
	type due struct {
		at       sim.Time
		priority uint64
		seq      int
	}
	sizes := []int{5_000, 20_000} // Large enough for both ways in which the heap compares.
	for size := range 200 {
		sizes = append(sizes, size)
	}
	for _, size := range sizes {
		random := sim.Random(uint64(size))
		k := mustKernel[due](t, kernel.Options{Chooser: random})
		var want []due
		var handles []kernel.Handle
		for i := range size {
			key := sim.RootKey(false).Num(labelCall, uint64(i/2)) // Pairs share a priority.
			e := due{k.Now().Add(sim.Between(random, key, 0, time.Duration(10+size/4)*time.Microsecond)), random.Priority(key), i}
			handles = append(handles, k.At(e.at, key, e))
			want = append(want, e)
		}
		if size%3 == 0 { // two of three are cancelled, which triggers a sweep
			want = slices.DeleteFunc(want, func(e due) bool { return e.seq%3 != 0 })
			for i, h := range handles {
				if i%3 != 0 && !k.Cancel(h) {
					t.Fatalf("size %d: event %d is not waiting", size, i)
				}
			}
		}
		slices.SortFunc(want, func(a, b due) int {
			switch {
			case a.at != b.at:
				return int(a.at - b.at)
			case a.priority < b.priority:
				return -1
			case a.priority > b.priority:
				return 1
			}
			return a.seq - b.seq
		})
		if k.Len() != len(want) {
			t.Fatalf("size %d: %d wait, want %d", size, k.Len(), len(want))
		}
		if got := drain(k); !slices.Equal(got, want) {
			t.Fatalf("size %d: order\n%v, want\n%v", size, got, want)
		}
	}
}

func TestOneMoreEventMovesNoOther(t *testing.T) {
	run := func(extra bool) []int {
		k := mustKernel[int](t, kernel.Options{Chooser: sim.Random(7)})
		root := sim.RootKey(false)
		if extra {
			k.After(time.Second, root.Num(labelTimer, 0), -1)
		}
		for i := range 50 {
			k.After(time.Second, root.Num(labelCall, uint64(i)), i)
			if extra && i%10 == 0 {
				sim.Chance(k.Chooser(), root.Num(labelNode, uint64(i)), 1, 2)
				k.Cancel(k.After(time.Second, root.Num(labelTimer, uint64(1+i)), -1))
			}
		}
		return slices.DeleteFunc(drain(k), func(i int) bool { return i < 0 })
	}
	plain, more := run(false), run(true)
	if !slices.Equal(plain, more) {
		t.Errorf("order\n%v, with more events\n%v", plain, more)
	}
	if slices.IsSorted(plain) {
		t.Error("events due at the same time come out in the order added: the seed decides nothing")
	}
}

func TestCancel(t *testing.T) {
	k := mustKernel[string](t, kernel.Options{Chooser: sim.FIFO(0)})
	key := sim.RootKey(false)
	first := k.After(time.Second, key, "first")
	second := k.After(2*time.Second, key, "second")
	if k.Cancel(kernel.Handle{}) {
		t.Error("the zero handle names an event")
	}
	if !k.Cancel(first) || k.Cancel(first) {
		t.Error("the first event can be cancelled once, and then not again")
	}
	third := k.After(3*time.Second, key, "third") // Takes first's place in memory.
	if k.Cancel(first) {
		t.Error("a stale handle cancelled the event that reuses its slot")
	}
	if k.Len() != 2 {
		t.Errorf("%d events wait, want 2", k.Len())
	}
	if at, ok := k.Peek(); !ok || at != sim.Epoch.Add(2*time.Second) {
		t.Errorf("next at %d, %v", at, ok)
	}
	if e, _ := k.Next(); e != "second" || k.Now() != sim.Epoch.Add(2*time.Second) {
		t.Errorf("got %q at %d", e, k.Now())
	}
	if k.Cancel(second) {
		t.Error("an event that was given out can be cancelled")
	}
	if !k.Cancel(third) {
		t.Error("the third event is not waiting")
	}
	if _, ok := k.Next(); ok || k.Len() != 0 || k.Now() != sim.Epoch.Add(2*time.Second) {
		t.Error("a cancelled event was seen or moved the clock")
	}
	if _, ok := k.Peek(); ok {
		t.Error("Peek sees a cancelled event")
	}
}

// Timers that are set and cancelled repeatedly must not accumulate.
func TestCancelledEventsAreSwept(t *testing.T) {
	k := mustKernel[int](t, kernel.Options{Chooser: sim.Random(1)})
	root := sim.RootKey(false)
	for i := range 20 {
		k.After(time.Duration(i)*time.Second, root.Num(labelCall, uint64(i)), i)
	}
	churn := func() {
		for i := range 1000 {
			if !k.Cancel(k.After(time.Hour, root.Num(labelTimer, uint64(i)), -1)) {
				t.Fatal("not waiting")
			}
		}
	}
	churn()
	if n := testing.AllocsPerRun(10, churn); n != 0 {
		t.Errorf("a thousand cancelled timers allocate %v times", n)
	}
	if got := drain(k); len(got) != 20 || !slices.IsSorted(got) {
		t.Errorf("got %v", got)
	}
}

func TestBadTimesPanic(t *testing.T) {
	k := mustKernel[int](t, kernel.Options{Chooser: sim.FIFO(0)})
	key := sim.RootKey(true).Num(labelCall, 3)
	sample.Panics(t, "event call:3 at 1735689599999999, which is 1µs before now", func() { k.At(k.Now()-1, key, 0) })
	sample.Panics(t, "event call:3 after -1ns", func() { k.After(-1, key, 0) })
}

func TestBudget(t *testing.T) {
	key := sim.RootKey(false)
	t.Run("steps", func(t *testing.T) {
		k := mustKernel[int](t, kernel.Options{Chooser: sim.FIFO(0), StepBudget: 3})
		for i := range 5 {
			k.After(0, key, i)
		}
		for range 3 {
			if _, ok := k.Next(); !ok || k.Exhausted() {
				t.Fatal("ends early")
			}
			k.Step()
		}
		if _, ok := k.Next(); ok || !k.Exhausted() || k.Steps() != 3 || k.Len() != 2 {
			t.Errorf("after 3 steps of 3: next %v, exhausted %v, steps %d, waiting %d", ok, k.Exhausted(), k.Steps(), k.Len())
		}
	})
	t.Run("a loop without steps ends", func(t *testing.T) {
		k := mustKernel[int](t, kernel.Options{Chooser: sim.FIFO(0), StepBudget: 3})
		k.After(0, key, 0)
		pops := uint64(0)
		for _, ok := k.Next(); ok; _, ok = k.Next() {
			pops++
			k.After(0, key, 0)
		}
		if pops != 3*kernel.PopsPerStep || !k.Exhausted() || k.Steps() != 0 {
			t.Errorf("%d events given out, exhausted %v, steps %d", pops, k.Exhausted(), k.Steps())
		}
	})
}

func TestKernelSteadyStateAllocatesNothing(t *testing.T) {
	k := mustKernel[[3]uint64](t, kernel.Options{Chooser: sim.Random(1)})
	root := sim.RootKey(false)
	n := uint64(0)
	turn := func() {
		n++
		h := k.After(time.Second, root.Num(labelTimer, n), [3]uint64{n})
		key := root.Num(labelCall, n)
		d := sim.Between(k.Chooser(), key, 0, time.Second)
		if sim.Chance(k.Chooser(), key, 1, 3) {
			k.Cancel(h)
		}
		k.After(d, key, [3]uint64{n})
		k.Next()
		if k.Len() > 100 {
			k.Next()
		}
	}
	for range 1000 {
		turn()
	}
	if a := testing.AllocsPerRun(1000, turn); a != 0 {
		t.Errorf("%v allocations a turn", a)
	}
}
