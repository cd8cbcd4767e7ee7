package slab

// Set is slabs of several types that are reset together. The zero value is ready.
type Set struct{ slabs []interface{ Reset() } }

// Of returns the set's slab of a type. Of a nil Set it is one that keeps nothing.
func Of[T any](s *Set) *Slab[T] {
	if s == nil {
		return new(Slab[T])
	}
	for _, have := range s.slabs {
		if slab, ok := have.(*Slab[T]); ok {
			return slab
		}
	}
	slab := new(Slab[T])
	slab.Reset()
	s.slabs = append(s.slabs, slab)
	return slab
}

// Reset resets every slab of the set.
func (s *Set) Reset() {
	for _, slab := range s.slabs {
		slab.Reset()
	}
}
