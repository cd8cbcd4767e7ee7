package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/durosim/durosim/sim"
)

// Options configure a Kernel. They are not meant to vary between simulations.
type Options struct {
	// Chooser makes the draws and orders events that are due at the same time. It must be set.
	Chooser sim.Chooser
	// Start is the initial kernel time. Zero means Epoch. It must not be negative.
	Start sim.Time
	// StepBudget is the number of steps after which the run is Exhausted. Zero means DefaultStepBudget; the largest is
	// 2^60-1.
	StepBudget uint64
}

const (
	// DefaultStepBudget is the step budget of runs whose Options set none.
	DefaultStepBudget uint64 = 10_000_000
	// PopsPerStep times the step budget is the number of events after which a run is Exhausted. It ensures that a run
	// ends even if its events never count as steps.
	PopsPerStep uint64 = 16
)

// validate checks the options and fills in defaults.
func (o *Options) validate() error {
	if o.Chooser == nil {
		return errors.New("sim: Options.Chooser is not set")
	}
	if o.Start < 0 {
		return fmt.Errorf("sim: Options.Start is %d, before 1970", o.Start)
	}
	o.Start = cmp.Or(o.Start, sim.Epoch)
	if o.StepBudget > math.MaxUint64/PopsPerStep {
		return fmt.Errorf("sim: Options.StepBudget is %d, above %d", o.StepBudget, uint64(math.MaxUint64)/PopsPerStep)
	}
	o.StepBudget = cmp.Or(o.StepBudget, DefaultStepBudget)
	return nil
}

// Kernel is a virtual clock and a queue of events of type E, ordered by time, then priority, then sequence number.
// Events are plain data that the owner interprets; the kernel does not execute anything. A Kernel is not safe for
// concurrent use.
type Kernel[E any] struct {
	now     sim.Time
	chooser sim.Chooser
	seq     uint64
	steps   uint64
	pops    uint64
	budget  uint64

	// Invariant: no entry in queue is before now. An entry is live as long as its gen equals that of its slot; other
	// entries have been cancelled. Cancelled entries are dropped when they reach the front, or all at once when they
	// make up more than half of the queue.
	queue queue
	dead  int
	slots []slot[E]
	// free is the head of a list of free slots, linked by slot.next: the first free slot plus one, or zero.
	free uint32
}

// slot holds one waiting event. Its generation increases each time an event leaves it, so that old handles no longer
// match.
type slot[E any] struct {
	event E
	gen   uint32
	next  uint32
}

// Handle identifies an event waiting in a Kernel. It is a plain value, valid only for the kernel that returned it, and
// harmless once the event is gone. The zero Handle identifies nothing.
type Handle struct {
	slot uint32
	gen  uint32
}

// New returns a kernel with an empty queue.
func New[E any](o Options) (*Kernel[E], error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	k := &Kernel[E]{now: o.Start, chooser: o.Chooser, budget: o.StepBudget, slots: make([]slot[E], 0, usuallyWaiting)}
	k.queue.near, k.queue.far = make([]entry, 0, maxNear), make(heap, 0, usuallyWaiting)
	return k, nil
}

// usuallyWaiting is the number of waiting events for which a kernel has room from the start.
const usuallyWaiting = 96

// Now returns the kernel time: initially the start time, then the time of the last event returned by Next.
func (k *Kernel[E]) Now() sim.Time { return k.now }

// Chooser returns the chooser set in the options.
func (k *Kernel[E]) Chooser() sim.Chooser { return k.chooser }

// At adds an event that is due at t. Its key determines the order among events due at the same time: they are ordered
// by the chooser's priorities for their keys and, if those are equal, by when they were added. At panics if t is in the
// past.
func (k *Kernel[E]) At(t sim.Time, key sim.Key, e E) Handle {
	if t < k.now {
		panic(fmt.Sprintf("sim: event %v at %d, which is %v before now, %d", key, t, k.now.Sub(t), k.now))
	}
	h := k.hold(e)
	k.seq++
	k.queue.push(entry{at: uint64(t), priority: k.chooser.Priority(key), seq: k.seq, slot: h.slot, gen: h.gen})
	return h
}

// After adds an event that is due d from now. It panics if d is negative.
func (k *Kernel[E]) After(d time.Duration, key sim.Key, e E) Handle {
	if d < 0 {
		panic(fmt.Sprintf("sim: event %v after %v", key, d))
	}
	return k.At(k.now.Add(d), key, e)
}

// hold stores e in a free slot. Slots are reused in LIFO order.
func (k *Kernel[E]) hold(e E) Handle {
	if k.free == 0 {
		if len(k.slots) == math.MaxInt32 {
			panic(fmt.Sprintf("sim: %d events wait at once", len(k.slots)))
		}
		k.slots = append(k.slots, slot[E]{event: e, gen: 1})
		return Handle{slot: uint32(len(k.slots) - 1), gen: 1}
	}
	i := k.free - 1
	s := &k.slots[i]
	k.free = s.next
	s.event = e
	return Handle{slot: i, gen: s.gen}
}

// take empties slot i and returns its event.
func (k *Kernel[E]) take(i uint32) E {
	s := &k.slots[i]
	e := s.event
	var none E
	s.event = none // Do not keep the event's references alive.
	s.gen++
	if s.gen != 0 { // A slot that has used up all generations is retired, since an old handle could match if it were reused.
		s.next = k.free
		k.free = i + 1
	}
	return e
}

// Cancel removes the event identified by h and reports whether it was still waiting. It returns false if the event has
// been removed or cancelled before, and for the zero Handle.
func (k *Kernel[E]) Cancel(h Handle) bool {
	if h.gen == 0 || uint64(h.slot) >= uint64(len(k.slots)) || k.slots[h.slot].gen != h.gen {
		return false
	}
	k.take(h.slot)
	k.dead++
	if k.dead > k.queue.len()/2 && k.dead >= minSweep {
		k.sweep()
	}
	return true
}

// minSweep is the number of cancelled entries below which sweeping is not worthwhile.
const minSweep = 64

// sweep drops all cancelled entries. It runs only when at least half of the entries have been cancelled, so cancelling
// takes amortized constant time, and memory use stays within twice that of the waiting events.
func (k *Kernel[E]) sweep() {
	k.queue.keep(func(e *entry) bool { return k.slots[e.slot].gen == e.gen })
	k.dead = 0
}

// skip drops cancelled entries from the front.
func (k *Kernel[E]) skip() {
	for k.dead > 0 && k.queue.len() > 0 {
		if first := k.queue.first(); k.slots[first.slot].gen == first.gen {
			return
		}
		k.queue.pop()
		k.dead--
	}
}

// Next removes the next event, advances the clock to its time and returns it. It skips cancelled events, which do not
// advance the clock. ok is false if no event is waiting or the run is Exhausted. In the latter case the queue stays as
// it is.
func (k *Kernel[E]) Next() (e E, ok bool) {
	k.skip()
	if k.queue.len() == 0 || k.Exhausted() {
		return e, false
	}
	first := k.queue.pop()
	k.now = sim.Time(first.at)
	k.pops++
	return k.take(first.slot), true
}

// Peek returns the time of the next event. ok is false if no event is waiting.
func (k *Kernel[E]) Peek() (t sim.Time, ok bool) {
	k.skip()
	if k.queue.len() == 0 {
		return 0, false
	}
	return sim.Time(k.queue.first().at), true
}

// Len returns the number of waiting events, not counting cancelled ones.
func (k *Kernel[E]) Len() int { return k.queue.len() - k.dead }

// Step counts one step against the budget. The owner calls it for events that changed something or made a call, but not
// for events that found nothing to do.
func (k *Kernel[E]) Step() { k.steps++ }

// Steps returns the number of steps counted so far.
func (k *Kernel[E]) Steps() uint64 { return k.steps }

// Exhausted reports whether the step budget is used up, or PopsPerStep times as many events have been removed. From
// then on Next returns no events.
func (k *Kernel[E]) Exhausted() bool { return k.steps >= k.budget || k.pops >= k.budget*PopsPerStep }
