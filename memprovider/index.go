package memprovider

import (
	"github.com/durosim/durosim/engine"
)

// index finds the instance that a fetch would take. Instances are ordered by the position of their oldest visible
// message and kept in one bucket per pin, so instances that a filter excludes cost nothing: the cost of a lookup
// depends on the number of distinct pins, not on the number of instances.
type index struct {
	rules   *Rules
	buckets []*bucket // in order of first use; includes the unpinned bucket
	// Instances that have visible messages but no context. Those in stuck are still waiting for their start message;
	// those in orphans will be dropped.
	stuck, orphans heap[*instance]
	// notBefore is a time before which no instance in a later heap is due.
	notBefore int64
}

// bucket holds the instances with one pin.
type bucket struct {
	pin *engine.Version // nil for unpinned instances
	// ready holds the instances that can be delivered, ordered by their oldest visible message. later holds those that
	// may become ready as time passes, ordered by that time.
	ready, later heap[*instance]
}

// place is an instance's position in an index.
type place struct {
	bucket *bucket
	in     *heap[*instance] // ready, stuck or orphans
	slot   int
	later  int
}

// update moves the instance to the heaps where it now belongs.
func (x *index) update(in *instance, now int64) {
	p := &in.place
	b := x.bucket(x.rules.Pin(in.pins()))
	if p.bucket != b {
		if p.bucket != nil {
			p.bucket.later.drop(&p.later)
		}
		p.bucket = b
	}
	live := in.lock.live(now)
	locked := live && x.rules.SeesLock(in.lock.takenMs, now)
	target := x.target(in, b, locked)
	if p.in != target && p.in != nil {
		p.in.drop(&p.slot)
	}
	p.in = target
	if target != nil {
		target.put(&p.slot, int64(in.visible[0].no), 0, in)
	}
	at := in.nextMs(locked)
	if live && !locked {
		at = min(at, now+1)
	}
	if at != Never {
		x.notBefore = min(x.notBefore, at)
		b.later.put(&p.later, at, uint64(in.no), in)
	} else {
		b.later.drop(&p.later)
	}
}

// target returns the heap in which the instance belongs, or nil if it has nothing to deliver now.
func (x *index) target(in *instance, b *bucket, locked bool) *heap[*instance] {
	switch {
	case len(in.visible) == 0 || locked:
		return nil
	case in.visibleStarts > 0 || in.hasContext():
		return &b.ready
	case x.rules.IsOrphan(in.visibleQueueMessages == len(in.visible), in.delayedStarts > 0):
		return &x.orphans
	}
	return &x.stuck
}

func (x *index) bucket(pin *engine.Version) *bucket {
	for _, b := range x.buckets {
		if b.pin == pin { // pins are interned
			return b
		}
	}
	b := &bucket{pin: pin}
	x.buckets = append(x.buckets, b)
	return b
}

// pick returns the instance that a fetch with this filter takes, or nil.
func (x *index) pick(filter *engine.CapabilityFilter, rules *Rules) *instance {
	var best *entry[*instance]
	for _, b := range x.buckets {
		if e := b.ready.head(); e != nil && (best == nil || e.less(best)) && rules.Admits(filter, b.pin) {
			best = e
		}
	}
	if best == nil || !rules.LooksPast && best.item != x.oldest() {
		return nil
	}
	if e := x.stuck.head(); e != nil && !rules.LooksPastContextless && !best.less(e) {
		return nil
	}
	return best.item
}

// oldest returns the instance with the oldest visible message among all instances that are neither locked nor orphans.
func (x *index) oldest() *instance {
	best := x.stuck.head()
	for _, b := range x.buckets {
		if e := b.ready.head(); e != nil && (best == nil || e.less(best)) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	return best.item
}

// changesAt returns the earliest time at which an instance that the filter admits may change state without a call.
func (x *index) changesAt(filter *engine.CapabilityFilter, rules *Rules) int64 {
	at := Never
	for _, b := range x.buckets {
		if e := b.later.head(); e != nil && e.key < at && rules.Admits(filter, b.pin) {
			at = e.key
		}
	}
	return at
}

// due returns an instance in later whose time has come, or nil.
func (x *index) due(now int64) *instance {
	if now < x.notBefore {
		return nil
	}
	return x.findDue(now)
}

func (x *index) findDue(now int64) *instance {
	x.notBefore = Never
	for _, b := range x.buckets {
		switch e := b.later.head(); {
		case e == nil:
		case e.key <= now:
			x.notBefore = now
			return e.item
		default:
			x.notBefore = min(x.notBefore, e.key)
		}
	}
	return nil
}
