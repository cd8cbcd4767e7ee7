package slab

import (
	"reflect"
	"slices"
)

// Slab hands out zeroed values of T. It keeps memory from its first Reset on; before, and beyond Blocks blocks, it allocates
// and the garbage collector takes back: what is never reset, and what is long, holds what lives and not all that ever did.
// The zero value is ready. It is not safe for concurrent use.
type Slab[T any] struct {
	blocks [][]T // each as long as what is used of it
	full   int   // blocks before this one are used up
	each   int   // values in a block; 0 before the first Reset
	taken  bool  // something was handed out since the last Reset
}

// Blocks is how many blocks a Slab keeps, of blockBytes each, or of one value if that is larger.
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

// Clone returns a copy of a slice, without room for more; the copy of nil is nil.
func (s *Slab[T]) Clone(values []T) []T {
	if len(values) == 0 {
		return slices.Clone(values)
	}
	return append(s.Make(len(values)), values...)
}

// Append is append with memory of the slab, which doubles what it makes room for.
func (s *Slab[T]) Append(values []T, v T) []T {
	if len(values) == cap(values) {
		values = s.grown(values)
	}
	return append(values, v)
}

func (s *Slab[T]) grown(values []T) []T { return append(s.Make(max(2, 2*len(values))), values...) }

// Insert is slices.Insert of one value with memory of the slab.
func (s *Slab[T]) Insert(values []T, i int, v T) []T {
	if len(values) < cap(values) {
		return slices.Insert(values, i, v)
	}
	return slices.Insert(s.grown(values), i, v)
}

// block returns the block with room for n values, nil if they are to be allocated.
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

// Reset takes back everything that was handed out, and forgets what it held. It costs next to nothing if that is nothing.
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
