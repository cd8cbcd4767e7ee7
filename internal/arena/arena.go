package arena

import (
	"reflect"
	"slices"
)

// Of allocates zeroed values of type T. From the first Reset on, it keeps up to Blocks blocks of memory for reuse.
// All other memory is left to the garbage collector, so an arena that is never reset, or one in a long run, retains only
// live values. The zero value is ready to use. An arena is not safe for concurrent use.
type Of[T any] struct {
	blocks [][]T // the length of each block is the part in use
	full   int   // all blocks before this index are full
	each   int   // values per block; 0 before the first Reset
	taken  bool  // a value has been allocated since the last Reset
}

// Blocks is the maximum number of blocks that an arena keeps. A block has blockBytes bytes, or holds a single value if T
// is larger than that.
const (
	Blocks     = 64
	blockBytes = 8 << 10
)

// New returns a new zero value.
func (s *Of[T]) New() *T {
	if b := s.block(1); b != nil {
		*b = (*b)[:len(*b)+1]
		return &(*b)[len(*b)-1]
	}
	return new(T)
}

// Make returns an empty slice with that capacity.
func (s *Of[T]) Make(capacity int) []T {
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

// Clone returns a copy of values without spare capacity. A nil slice stays nil.
func (s *Of[T]) Clone(values []T) []T {
	if len(values) == 0 {
		return slices.Clone(values)
	}
	return append(s.Make(len(values)), values...)
}

// Append is like the built-in append but uses the arena's memory. When it needs more room, it doubles the capacity.
func (s *Of[T]) Append(values []T, v T) []T {
	if len(values) == cap(values) {
		values = s.grown(values)
	}
	return append(values, v)
}

func (s *Of[T]) grown(values []T) []T { return append(s.Make(max(2, 2*len(values))), values...) }

// Insert is like slices.Insert for a single value but uses the arena's memory.
func (s *Of[T]) Insert(values []T, i int, v T) []T {
	if len(values) < cap(values) {
		return slices.Insert(values, i, v)
	}
	return slices.Insert(s.grown(values), i, v)
}

// block returns a block with room for n values, or nil if the caller must allocate them itself.
func (s *Of[T]) block(n int) *[]T {
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

// Reset reclaims and zeroes all values allocated from the arena. If there are none, it costs almost nothing.
func (s *Of[T]) Reset() {
	if s.taken || s.each == 0 {
		s.reset()
	}
}

func (s *Of[T]) reset() {
	for i := range s.blocks[:min(s.full+1, len(s.blocks))] {
		clear(s.blocks[i])
		s.blocks[i] = s.blocks[i][:0]
	}
	s.full, s.taken, s.each = 0, false, max(1, blockBytes/max(1, int(reflect.TypeFor[T]().Size())))
}
