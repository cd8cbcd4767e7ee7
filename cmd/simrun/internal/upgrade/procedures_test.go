package upgrade

import "testing"

// TestRank checks what counts first when procedures are ranked.
func TestRank(t *testing.T) {
	best := []Procedure{
		{Name: "always taken back", TriedMs: -1, Effect: Effect{MostWaitedMs: 1000}},
		{Name: "tried for long", TriedMs: 2000, Effect: Effect{MostWaitedMs: 900}, Took: Took{LongestMs: 9}},
		{Name: "tried", TriedMs: 1000, Effect: Effect{MostWaitedMs: 800}, Took: Took{LongestMs: 8}},
		{Name: "slower", TriedMs: 1000, Effect: Effect{MostWaitedMs: 700}, Took: Took{LongestMs: 9}},
		{Name: "lets wait", TriedMs: -1, Effect: Effect{MostWaitedMs: 5000}},
		{Name: "strands", TriedMs: -1, Effect: Effect{harm: harm{Stranded: Count{Total: 1}}}},
		{Name: "loses", TriedMs: -1, Effect: Effect{harm: harm{Lost: Count{Total: 1}}}},
		{Name: "violates", TriedMs: -1, Effect: Effect{Violated: []string{"S01"}}},
		{Name: "not tried", Lacks: "a bridge"},
	}
	for i := range best[1:] {
		if a, b := &best[i], &best[i+1]; a.compare(b) >= 0 || b.compare(a) <= 0 {
			t.Errorf("%q does not come before %q", a.Name, b.Name)
		}
	}
}
