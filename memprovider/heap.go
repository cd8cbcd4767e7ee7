package memprovider

// heap is a binary heap of items ordered by (key, tie), smallest first. Each item brings a slot in which the heap keeps
// its place, so that it can be moved and dropped; a slot is in one heap at most, and 0 while it is in none.
//
// Invariant: no two entries have equal (key, tie), so the order never depends on the history of the heap.
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

// drop removes the item if it is there.
func (h *heap[T]) drop(slot *int) {
	if *slot == 0 {
		return
	}
	i, last := *slot-1, len(h.entries)-1
	h.swap(i, last)
	h.entries[last] = entry[T]{}
	h.entries = h.entries[:last]
	*slot = 0
	if i < last {
		moved := h.entries[i].slot
		h.up(i)
		h.down(*moved - 1)
	}
}

// head is the smallest entry, nil if there is none. It is valid until the heap changes.
func (h *heap[T]) head() *entry[T] {
	if len(h.entries) == 0 {
		return nil
	}
	return &h.entries[0]
}

func (h *heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.entries[i].less(&h.entries[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *heap[T]) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h.entries) {
			return
		}
		if right := least + 1; right < len(h.entries) && h.entries[right].less(&h.entries[least]) {
			least = right
		}
		if !h.entries[least].less(&h.entries[i]) {
			return
		}
		h.swap(i, least)
		i = least
	}
}

func (h *heap[T]) swap(i, j int) {
	if i == j {
		return
	}
	h.entries[i], h.entries[j] = h.entries[j], h.entries[i]
	*h.entries[i].slot, *h.entries[j].slot = i+1, j+1
}
