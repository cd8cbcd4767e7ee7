package bugs

import "slices"

// ID names a seeded bug: family, slash, name.
type ID string

// Set is an immutable set of switched-on bugs. A nil set is empty.
type Set struct{ on []ID }

// New makes a set; duplicates count once.
func New(ids ...ID) *Set {
	on := slices.Clone(ids)
	slices.Sort(on)
	return &Set{on: slices.Compact(on)}
}

// On says whether the bug is switched on.
func (s *Set) On(id ID) bool {
	return s != nil && slices.Contains(s.on, id)
}

// IDs are the members in ascending order. The caller owns the slice.
func (s *Set) IDs() []ID {
	if s == nil {
		return nil
	}
	return slices.Clone(s.on)
}
