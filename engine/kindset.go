package engine

import (
	"slices"
)

// Set is an immutable set of kinds, in a fixed order.
type Set[K ~string] struct{ kinds []K }

// KindSet is a set of event kinds, WorkItemKindSet one of work item kinds.
type (
	KindSet         = Set[EventKind]
	WorkItemKindSet = Set[WorkItemKind]
)

// Kinds makes a set of event kinds. Duplicates count once.
func Kinds(kinds ...EventKind) KindSet { return KindSet{}.With(kinds...) }

// WorkItemKinds makes a set of work item kinds. Duplicates count once.
func WorkItemKinds(kinds ...WorkItemKind) WorkItemKindSet { return WorkItemKindSet{}.With(kinds...) }

// Has reports whether the set contains the kind.
func (s Set[K]) Has(k K) bool { return slices.Contains(s.kinds, k) }

// With returns the set with more kinds.
func (s Set[K]) With(kinds ...K) Set[K] {
	out := Set[K]{s.List()}
	for _, k := range kinds {
		if !out.Has(k) {
			out.kinds = append(out.kinds, k)
		}
	}
	return out
}

// Without returns the set without the given kinds.
func (s Set[K]) Without(kinds ...K) Set[K] {
	drop := func(k K) bool { return slices.Contains(kinds, k) }
	return Set[K]{slices.DeleteFunc(s.List(), drop)}
}

// List returns the kinds in the order in which they were added. The caller owns the slice.
func (s Set[K]) List() []K { return slices.Clone(s.kinds) }
