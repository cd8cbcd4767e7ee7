package kernel

import "math/bits"

// entry is a position in the queue. The event itself stays in its slot. Entries are small and have no pointers, so
// moving them needs no write barrier.
type entry struct {
	at       uint64
	priority uint64
	seq      uint64
	slot     uint32
	gen      uint32
}

// before compares (at, priority, seq) as one 192-bit number, using the borrow of a subtraction. The outcome of
// comparisons in a heap is unpredictable, so a branch would cost more than the arithmetic. It returns 1 if a is before
// b, and 0 otherwise.
func (a *entry) before(b *entry) uint64 {
	_, borrow := bits.Sub64(a.seq, b.seq, 0)
	_, borrow = bits.Sub64(a.priority, b.priority, borrow)
	_, borrow = bits.Sub64(a.at, b.at, borrow)
	return borrow
}

// nearHeap is the index from which down uses a branch after all. Entries that far out are not in a fast cache, and with
// a predicted branch the processor can fetch the next entries while it waits. With 10⁵ entries this saves a fifth of
// the time.
const nearHeap = 1 << 11

// heap is a binary heap of entries. No two entries are equal (seq is unique), so the order in which they leave does not
// depend on the shape of the heap.
type heap []entry

func (h *heap) push(e entry) {
	*h = append(*h, e)
	h.up(len(*h)-1, 0, e)
}

// up inserts e at i and sifts it up, to top at most: each ancestor that comes after e moves down one level.
func (h heap) up(i, top int, e entry) {
	for i > top {
		parent := (i - 1) / 2
		if e.before(&h[parent]) == 0 {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// down inserts e at i and sifts it down: descendants that come before e move up. It first walks down to a leaf and then
// climbs, because e comes from the bottom and usually belongs there.
func (h heap) down(i int, e entry) {
	top := i
	for {
		child := 2*i + 1
		if child+1 >= len(h) {
			if child < len(h) {
				h[i] = h[child]
				i = child
			}
			break
		}
		if a, b := &h[child+1], &h[child]; child < nearHeap {
			child += int(a.before(b))
		} else if a.at < b.at || a.at == b.at && a.before(b) == 1 {
			child++
		}
		h[i] = h[child]
		i = child
	}
	h.up(i, top, e)
}

// pop removes the first entry. The heap must not be empty.
func (h *heap) pop() entry {
	old := *h
	first, last := old[0], old[len(old)-1]
	*h = old[:len(old)-1]
	if len(*h) > 0 {
		h.down(0, last)
	}
	return first
}

// order turns unordered entries into a heap.
func (h heap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i, h[i])
	}
}
