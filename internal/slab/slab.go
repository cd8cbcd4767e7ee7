package slab

import (
	"reflect"
	"slices"
)

// Slab hands out zeroed values of T. It keeps its memory only from the first Reset on, and at most Blocks blocks of it.
// Everything else it allocates for the garbage collector to free, so that a slab that is never reset, or a long run,
// retains only live values. The zero value is ready to use. A Slab is not safe for concurrent use.
type Slab[T any] struct {
	blocks [][]T // the length of each is the part in use
	full   int   // all blocks before this index are full
	each   int   // values in a block; 0 before the first Reset
	taken  bool  // the slab has handed out a value since the last Reset
}

// Blocks is the number of blocks that a Slab keeps. Each has blockBytes bytes, or holds one value if a value is larger.
const (
	Blocks     = 64
	blockBytes = 8 << 10
)

// New returns a zero value.
func (s *Slab[T]) New() *T {
	if b := s.block(1); b != nil {
		*b = (*b)[:len(*b)+1]
		return &(*b)[len(*b)-1]
	}
	return new(T)
}

// Make returns an empty slice with that capacity.
func (s *Slab[T]) Make(capacity int) []T {
	if capacity == 0 {
		return []T{}
	}
	if b := s.block(capacity); b != nil {
		n := len(*b)
		*b = (*b)[:n+capacity]
		return (*b)[n : n : n+capacity]
	}
	return make([]T, 0, capacity)
}

// Clone returns a copy of a slice with no spare capacity; the copy of nil is nil.
func (s *Slab[T]) Clone(values []T) []T {
	if len(values) == 0 {
		return slices.Clone(values)
	}
	return append(s.Make(len(values)), values...)
}

// Append is append with the slab's memory. It doubles the capacity when it needs room.
func (s *Slab[T]) Append(values []T, v T) []T {
	if len(values) == cap(values) {
		values = s.grown(values)
	}
	return append(values, v)
}

func (s *Slab[T]) grown(values []T) []T { return append(s.Make(max(2, 2*len(values))), values...) }

// Insert is slices.Insert of one value with the slab's memory.
func (s *Slab[T]) Insert(values []T, i int, v T) []T {
	if len(values) < cap(values) {
		return slices.Insert(values, i, v)
	}
	return slices.Insert(s.grown(values), i, v)
}

// block returns a block with room for n values, or nil if the caller must allocate them.
func (s *Slab[T]) block(n int) *[]T {
	if n > s.each/2 && n > 1 || s.each == 0 {
		return nil
	}
	s.taken = true
	for s.full < len(s.blocks) {
		if b := &s.blocks[s.full]; len(*b)+n <= cap(*b) {
			return b
		}
		s.full++
	}
	if s.full == Blocks {
		return nil
	}
	s.blocks = append(s.blocks, make([]T, 0, s.each))
	return &s.blocks[s.full]
}

// Reset takes back and zeroes all values that the slab handed out. If there are none, it costs next to nothing.
func (s *Slab[T]) Reset() {
	if s.taken || s.each == 0 {
		s.reset()
	}
}

func (s *Slab[T]) reset() {
	for i := range s.blocks[:min(s.full+1, len(s.blocks))] {
		clear(s.blocks[i])
		s.blocks[i] = s.blocks[i][:0]
	}
	s.full, s.taken, s.each = 0, false, max(1, blockBytes/max(1, int(reflect.TypeFor[T]().Size())))
}
