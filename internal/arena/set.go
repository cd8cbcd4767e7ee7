package arena

// Set is a group of arenas that are reset together. They may have different types. The zero value is ready to use.
type Set struct{ arenas []interface{ Reset() } }

// From returns the set's arena for T. If s is nil, it returns a new arena that is never reset and therefore retains
// nothing.
func From[T any](s *Set) *Of[T] {
	if s == nil {
		return new(Of[T])
	}
	for _, have := range s.arenas {
		if one, ok := have.(*Of[T]); ok {
			return one
		}
	}
	one := new(Of[T])
	one.Reset()
	s.arenas = append(s.arenas, one)
	return one
}

// Reset resets every arena in the set.
func (s *Set) Reset() {
	for _, one := range s.arenas {
		one.Reset()
	}
}
