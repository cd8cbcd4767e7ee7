package arena_test

import (
	"testing"

	"github.com/durosim/durosim/internal/arena"
)

type value struct {
	n    int
	text *string
}

// fill allocates n values one at a time and n slices of one to seven values, and writes to all of them. It fails if any
// value was not zero or if two share memory.
func fill(t *testing.T, s *arena.Of[value], n int) {
	t.Helper()
	text := "used"
	var singles []*value
	var lists [][]value
	for i := range n {
		v := s.New()
		if *v != (value{}) {
			t.Fatalf("value %d: %v, want zero", i, *v)
		}
		*v = value{n: i, text: &text}
		singles = append(singles, v)
		list := s.Make(1 + i%7)
		for _, old := range list[:cap(list)] {
			if old != (value{}) {
				t.Fatalf("slice %d: %v, want zero", i, old)
			}
		}
		for range cap(list) {
			list = append(list, value{n: i, text: &text})
		}
		lists = append(lists, list)
	}
	for i := range n {
		if singles[i].n != i {
			t.Fatalf("value %d was overwritten with %d", i, singles[i].n)
		}
		for _, v := range lists[i] {
			if v.n != i {
				t.Fatalf("slice %d was overwritten with %d", i, v.n)
			}
		}
	}
}

// TestOf allocates more than an arena keeps, resets the arena, and allocates again.
func TestOf(t *testing.T) {
	var s arena.Of[value]
	for range 3 {
		fill(t, &s, 12000)
		s.Reset()
	}
	fill(t, new(arena.Of[value]), 100)
}

// TestReuse checks that memory allocated once costs nothing the next time.
func TestReuse(t *testing.T) {
	var s arena.Of[value]
	take := func() {
		for range 1000 {
			s.New()
			s.Make(3)
		}
		s.Reset()
	}
	take()
	take() // effective from the first Reset on
	if n := testing.AllocsPerRun(10, take); n > 0 {
		t.Errorf("%v allocations in an arena that was used before", n)
	}
}

func TestSet(t *testing.T) {
	var set arena.Set
	n := arena.From[int](&set).New()
	*n = 7
	*arena.From[string](&set).New() = "used"
	if first, second := arena.From[int](&set), arena.From[int](&set); first != second {
		t.Error("a type has two arenas")
	}
	set.Reset()
	if again := arena.From[int](&set).New(); again != n || *again != 0 {
		t.Errorf("after a reset: %d at another place or not zero", *again)
	}
	if first, second := arena.From[int](nil).New(), arena.From[int](nil).New(); first == second {
		t.Error("no set, and two values share memory")
	}
}

func TestAppendAndInsert(t *testing.T) {
	var s arena.Of[int]
	var appended, inserted []int
	for i := range 100 {
		appended = s.Append(appended, i)
		inserted = s.Insert(inserted, 0, i)
	}
	for i := range 100 {
		if appended[i] != i || inserted[i] != 99-i {
			t.Fatalf("at %d: %d and %d", i, appended[i], inserted[i])
		}
	}
	if got := s.Clone(nil); got != nil {
		t.Errorf("the copy of nothing is %v", got)
	}
	c := s.Clone(appended[:5])
	c = append(c, 7)
	if appended[5] != 5 || c[5] != 7 {
		t.Errorf("a copy shares memory: %v and %v", appended[:6], c)
	}
}
