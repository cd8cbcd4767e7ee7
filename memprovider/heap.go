package memprovider

// heap is a min-heap of items ordered by (key, tie). Each entry has four children, because a shallow heap causes fewer
// cache misses. The heap stores each item's position in a slot that belongs to the item, so that the item can be moved
// and dropped. A slot belongs to at most one heap and is 0 while it is in none.
//
// Invariant: no two entries have the same (key, tie), so the order never depends on the heap's history.
type heap[T any] struct{ entries []entry[T] }

type entry[T any] struct {
	key  int64
	tie  uint64
	slot *int
	item T
}

func (e *entry[T]) less(f *entry[T]) bool {
	return e.key < f.key || e.key == f.key && e.tie < f.tie
}

// put inserts the item or moves it to its new key.
func (h *heap[T]) put(slot *int, key int64, tie uint64, item T) {
	if *slot == 0 {
		h.entries = append(h.entries, entry[T]{key, tie, slot, item})
		*slot = len(h.entries)
		h.up(*slot - 1)
		return
	}
	i := *slot - 1
	e := &h.entries[i]
	if e.key == key && e.tie == tie {
		return
	}
	e.key, e.tie = key, tie
	h.up(i)
	h.down(*slot - 1)
}

// drop removes the item if it is in the heap.
func (h *heap[T]) drop(slot *int) {
	if *slot == 0 {
		return
	}
	i, last := *slot-1, len(h.entries)-1
	*slot = 0
	moved := h.entries[last]
	h.entries[last] = entry[T]{}
	h.entries = h.entries[:last]
	if i < last {
		h.set(i, moved)
		h.up(i)
		h.down(*moved.slot - 1)
	}
}

// head returns the smallest entry, or nil if the heap is empty. The entry is valid until the heap changes.
func (h *heap[T]) head() *entry[T] {
	if len(h.entries) == 0 {
		return nil
	}
	return &h.entries[0]
}

const children = 4

func (h *heap[T]) up(i int) {
	e := h.entries[i]
	for i > 0 {
		parent := (i - 1) / children
		if !e.less(&h.entries[parent]) {
			break
		}
		h.set(i, h.entries[parent])
		i = parent
	}
	h.set(i, e)
}

func (h *heap[T]) down(i int) {
	e := h.entries[i]
	for {
		first := children*i + 1
		if first >= len(h.entries) {
			break
		}
		least := first
		for c := first + 1; c < min(first+children, len(h.entries)); c++ {
			if h.entries[c].less(&h.entries[least]) {
				least = c
			}
		}
		if !h.entries[least].less(&e) {
			break
		}
		h.set(i, h.entries[least])
		i = least
	}
	h.set(i, e)
}

// set stores an entry at index i and updates its item's slot.
func (h *heap[T]) set(i int, e entry[T]) {
	h.entries[i] = e
	*e.slot = i + 1
}
