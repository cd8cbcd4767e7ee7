package engine

import (
	"slices"

	"github.com/durosim/durosim/engine/eventdata"
)

// Set is an immutable, ordered set of kinds.
type Set[K ~string] struct{ kinds []K }

// KindSet is a set of event kinds, and WorkItemKindSet a set of work item kinds.
type (
	KindSet         = Set[EventKind]
	WorkItemKindSet = Set[WorkItemKind]
)

// Kinds returns a set of event kinds. Duplicates are ignored.
func Kinds(kinds ...EventKind) KindSet { return KindSet{}.With(kinds...) }

// WorkItemKinds returns a set of work item kinds. Duplicates are ignored.
func WorkItemKinds(kinds ...WorkItemKind) WorkItemKindSet { return WorkItemKindSet{}.With(kinds...) }

// Has reports whether the set contains the kind. It is asked mostly for kinds that not every build has, and those come
// last.
func (s Set[K]) Has(k K) bool {
	for i := len(s.kinds) - 1; i >= 0; i-- {
		if s.kinds[i] == k {
			return true
		}
	}
	return false
}

// With returns the set with the given kinds added.
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

// formSet is a set of forms by the length of their kinds. It takes a third of the time of a map: few kinds have the same
// length, and most that have it are told apart by one comparison.
type formSet [40][]*eventdata.Form

func (s *formSet) add(f *eventdata.Form) {
	if s.find(f.Kind) == nil {
		i := min(len(f.Kind), len(s)-1)
		s[i] = append(s[i], f)
	}
}

func (s *formSet) find(kind string) *eventdata.Form {
	for _, f := range s[min(len(kind), len(s)-1)] {
		if f.Kind == kind {
			return f
		}
	}
	return nil
}
