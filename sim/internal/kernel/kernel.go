package kernel

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/durosim/durosim/sim"
)

// Options configure a Kernel. None of them is a value that simulations vary.
type Options struct {
	// Chooser orders events due at the same time and makes the draws. It must be set.
	Chooser sim.Chooser
	// Start is the kernel time at the start. Zero means Epoch; it must not be negative.
	Start sim.Time
	// StepBudget is the number of steps after which the run is Exhausted. Zero means DefaultStepBudget; the largest is
	// 2^60-1.
	StepBudget uint64
}

const (
	// DefaultStepBudget is the step budget of a run whose Options set none.
	DefaultStepBudget uint64 = 10_000_000
	// PopsPerStep times the step budget is the number of popped events after which a run is Exhausted, so that a run
	// whose events never count as steps also ends.
	PopsPerStep uint64 = 16
)

// validate checks the options and fills in the defaults.
func (o *Options) validate() error {
	if o.Chooser == nil {
		return errors.New("sim: Options.Chooser is not set")
	}
	if o.Start < 0 {
		return fmt.Errorf("sim: Options.Start is %d, before 1970", o.Start)
	}
	if o.Start == 0 {
		o.Start = sim.Epoch
	}
	if o.StepBudget > math.MaxUint64/PopsPerStep {
		return fmt.Errorf("sim: Options.StepBudget is %d, above %d", o.StepBudget, uint64(math.MaxUint64)/PopsPerStep)
	}
	if o.StepBudget == 0 {
		o.StepBudget = DefaultStepBudget
	}
	return nil
}

// Kernel is a virtual clock and a queue of events of type E, ordered by time, then priority, then sequence. An event
// is plain data that its owner interprets; the kernel runs nothing. It is not safe for concurrent use.
type Kernel[E any] struct {
	now     sim.Time
	chooser sim.Chooser
	seq     uint64
	steps   uint64
	pops    uint64
	budget  uint64

	// Invariant: no entry in queue is before now. An entry is live while its gen equals its slot's; other entries were
	// cancelled. They are dropped when they reach the front, or all at once when they are more than half of the queue.
	queue queue
	dead  int
	slots []slot[E]
	// free is the first free slot plus one, the head of a list through slot.next; zero means none.
	free uint32
}

// slot holds one waiting event. Its generation advances each time the event leaves, so old handles no longer match.
type slot[E any] struct {
	event E
	gen   uint32
	next  uint32
}

// Handle names an event that waits in a Kernel. It is a plain value, valid only for the kernel that returned it, and
// harmless after its event is gone. The zero Handle names nothing.
type Handle struct {
	slot uint32
	gen  uint32
}

// New returns a kernel with an empty queue.
func New[E any](o Options) (*Kernel[E], error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Kernel[E]{now: o.Start, chooser: o.Chooser, budget: o.StepBudget}, nil
}

// Now returns the kernel time: the start, and from then on the time of the last event that Next returned.
func (k *Kernel[E]) Now() sim.Time { return k.now }

// Chooser returns the chooser from the options.
func (k *Kernel[E]) Chooser() sim.Chooser { return k.chooser }

// At adds an event that is due at t. The key names it: events due at the same time are ordered by the chooser's
// priority for their keys and, where that ties, in the order in which they were added. A time in the past panics.
func (k *Kernel[E]) At(t sim.Time, key sim.Key, e E) Handle {
	if t < k.now {
		panic(fmt.Sprintf("sim: event %v at %d, which is %v before now, %d", key, t, k.now.Sub(t), k.now))
	}
	h := k.hold(e)
	k.seq++
	k.queue.push(entry{at: uint64(t), priority: k.chooser.Priority(key), seq: k.seq, slot: h.slot, gen: h.gen})
	return h
}

// After adds an event that is due d from now. A negative d panics.
func (k *Kernel[E]) After(d time.Duration, key sim.Key, e E) Handle {
	if d < 0 {
		panic(fmt.Sprintf("sim: event %v after %v", key, d))
	}
	return k.At(k.now.Add(d), key, e)
}

// hold stores e in a free slot. Slots are reused in last-in, first-out order.
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
	s.event = none // Do not keep the event's references alive in a free slot.
	s.gen++
	if s.gen != 0 { // A slot that has used all its generations is retired, since an old handle could match a reused one.
		s.next = k.free
		k.free = i + 1
	}
	return e
}

// Cancel removes the event that h names and reports whether it was still waiting. It returns false for an event
// that was already taken out or cancelled, and for the zero Handle.
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

// minSweep is the number of cancelled entries below which sweeping is not worth it.
const minSweep = 64

// sweep drops all cancelled entries. A pass happens only after at least half as many cancellations as there are
// entries, so cancelling takes amortized constant time, and memory stays within twice that of the waiting events.
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

// Next removes the next event, moves the clock to its time and returns it. It skips cancelled events, which do not
// move the clock. ok is false when no event is waiting, or when the run is Exhausted: then the queue stays as it is.
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

// Peek returns the time of the next event; ok is false when no event is waiting.
func (k *Kernel[E]) Peek() (t sim.Time, ok bool) {
	k.skip()
	if k.queue.len() == 0 {
		return 0, false
	}
	return sim.Time(k.queue.first().at), true
}

// Len returns the number of waiting events, not counting cancelled ones.
func (k *Kernel[E]) Len() int { return k.queue.len() - k.dead }

// Step counts one step against the budget. The owner calls it for an event that changed something or made a call,
// and not for one that found nothing to do.
func (k *Kernel[E]) Step() { k.steps++ }

// Steps returns the number of steps counted so far.
func (k *Kernel[E]) Steps() uint64 { return k.steps }

// Exhausted reports whether the step budget is used up, or PopsPerStep times as many events were taken out. From then
// on Next returns nothing.
func (k *Kernel[E]) Exhausted() bool { return k.steps >= k.budget || k.pops >= k.budget*PopsPerStep }
