package slab

// Set is a group of slabs that are reset together. They may have different types. The zero value is ready to use.
type Set struct{ slabs []interface{ Reset() } }

// Of returns the set's slab for T. If s is nil, it returns a new slab that is never reset and therefore retains
// nothing.
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

// Reset resets every slab in the set.
func (s *Set) Reset() {
	for _, slab := range s.slabs {
		slab.Reset()
	}
}
