package sim_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
)

// The values of a seed are part of the format: they must not differ by platform or change by accident.
func TestGoldenDraws(t *testing.T) {
	root := sim.RootKey(false)
	keys := []sim.Key{root, root.Num(labelNode, 1), root.Num(labelNode, 1).Name(labelCall, "fetch").At(labelTimer)}
	var got []string
	for _, seed := range []uint64{0, 1, math.MaxUint64} {
		c := sim.Random(seed)
		for _, k := range keys {
			got = append(got, fmt.Sprintf("%x: %d %d %x %x %d", seed, c.Choose(k, 10), c.Choose(k, 1<<32),
				c.Choose(k, math.MaxUint64), c.Priority(k), sim.Pick(c, k, []uint32{1, 2, 3, 4})))
		}
	}
	for _, k := range keys {
		got = append(got, fmt.Sprintf("%x", k.Hash()))
	}
	want := []string{
		"0: 9 4068101693 f27a4e3d1bd958f7 e9af86b546151e3a 3",
		"0: 7 3337260383 c6ea8d5f4337248e 29939faf210b4d6f 3",
		"0: 8 3486942912 cfd686c043d325fc 84f332d3bdd72ad2 3",
		"1: 3 1427055600 550f23f09fa392fc 9e8a37473c0fcd4b 2",
		"1: 4 2105611968 7d8116c0f559071d ae66b7f311a37492 2",
		"1: 9 4044956294 f1192286691afaaf 2b9895133870afa1 3",
		"ffffffffffffffff: 4 1838223323 6d910fdb64fab499 61d84c7c4df7c28a 2",
		"ffffffffffffffff: 7 3339880701 c71288fd7488b957 fe7721b6acdac0c7 3",
		"ffffffffffffffff: 7 3123666300 ba2f5d7c84b563f1 ea525400d936f1e5 3",
		"0",
		"8f5eb7b079a85107",
		"d075c140648381bd",
	}
	if !slices.Equal(got, want) {
		t.Errorf("draws are\n%#v, want\n%#v", got, want)
	}
}

func TestRandomIsUniform(t *testing.T) {
	const cells, draws = 64, 64_000
	const bound = 114 // Chi-square with 63 degrees of freedom is above it once in ten thousand times.
	root := sim.RootKey(false)
	c := sim.Random(42)
	tally := func(what string, draw func(i uint64) uint64) {
		counts := make([]int64, cells)
		for i := range uint64(draws) {
			counts[draw(i)]++
		}
		checkShares(t, what, counts, slices.Repeat([]int64{1}, cells), bound)
	}
	key := root.Num(labelNode, 9)
	tally("over keys", func(i uint64) uint64 { return c.Choose(key.Num(labelCall, i), cells) })
	tally("over prefixes", func(i uint64) uint64 { return c.Choose(root.Num(labelNode, i).At(labelCall), cells) })
	tally("over seeds", func(i uint64) uint64 { return sim.Random(i).Choose(key, cells) })
	tally("priority, low bits", func(i uint64) uint64 { return c.Priority(key.Num(labelCall, i)) % cells })
	tally("draw and priority of one key", func(i uint64) uint64 {
		k := key.Num(labelCall, i)
		return c.Choose(k, 8)*8 + c.Priority(k)>>61
	})
	tally("neighbouring seeds", func(i uint64) uint64 { return sim.Random(i).Choose(key, 8)*8 + sim.Random(i+1).Choose(key, 8) })
	tally("two keys over seeds", func(i uint64) uint64 {
		r := sim.Random(i)
		return r.Choose(key.Num(labelCall, 0).At(labelTimer), 8)*8 + r.Choose(key.Num(labelCall, 1).At(labelTimer), 8)
	})
	tally("neighbouring keys", func(i uint64) uint64 {
		return c.Choose(key.Num(labelCall, i), 8)*8 + c.Choose(key.Num(labelCall, i+1), 8)
	})
}

func TestRandomHitsItsOdds(t *testing.T) {
	const draws = 60_000
	c, root := sim.Random(3), sim.RootKey(false)
	weights := []uint32{3, 0, 1, 2}
	picks := make([]int64, len(weights))
	chances := []int64{0, 0}
	for i := range uint64(draws) {
		picks[sim.Pick(c, root.Num(labelCall, i), weights)]++
		if sim.Chance(c, root.Num(labelNode, i), 1, 3) {
			chances[1]++
		} else {
			chances[0]++
		}
	}
	if picks[1] != 0 {
		t.Errorf("weight 0 was picked %d times", picks[1])
	}
	// Above these bounds once in a thousand times, with two degrees of freedom and with one.
	checkShares(t, "weights", picks, []int64{3, 0, 1, 2}, 14)
	checkShares(t, "one in three", chances, []int64{2, 1}, 11)
}

// checkShares compares chi-square, the sum of (count − share)² / share, with a bound, in whole numbers.
func checkShares(t *testing.T, what string, counts, shares []int64, bound int64) {
	t.Helper()
	n, all := int64(0), int64(0)
	for i := range counts {
		n += counts[i]
		all += shares[i]
	}
	sum := int64(0)
	for i, c := range counts {
		if shares[i] > 0 {
			d := c*all - n*shares[i]
			sum += d * d / shares[i]
		}
	}
	if sum > bound*all*n {
		t.Errorf("%s: chi-square is %d, above %d: %v", what, sum/(all*n), bound, counts)
	}
}

func TestHigherRateOnlyAdds(t *testing.T) {
	c, root := sim.Random(11), sim.RootKey(false)
	for i := range uint64(1000) {
		k := root.Num(labelCall, i)
		if sim.Chance(c, k, 1, 10) && !sim.Chance(c, k, 2, 10) {
			t.Fatalf("draw %d happens at 1 in 10 and not at 2 in 10", i)
		}
	}
}

// silent fails the test when it is called.
type silent struct{ t *testing.T }

func (s silent) Choose(k sim.Key, n uint64) uint64 {
	s.t.Errorf("asked for %v of %d", k, n)
	return 0
}
func (s silent) Weigh(k sim.Key, odds sim.Odds) uint64 { return s.Choose(k, odds.N()) }
func (s silent) Priority(sim.Key) uint64               { return 0 }

func TestWhatIsSettledIsNotAsked(t *testing.T) {
	c, k := silent{t}, sim.RootKey(true)
	if sim.Chance(c, k, 0, 5) {
		t.Error("no chance, but it happened")
	}
	for _, weights := range [][]uint32{{1}, {0}, {3, 0, 0}, {0, 0}} {
		if got := sim.Pick(c, k, weights); got != 0 {
			t.Errorf("picked %d of %v", got, weights)
		}
	}
	for _, c2 := range []struct{ lo, hi time.Duration }{{0, 0}, {5, 5}, {0, 999}, {-7, -7}} {
		if got := sim.Between(c, k, c2.lo, c2.hi); got != c2.lo {
			t.Errorf("between %v: %v", c2, got)
		}
	}
}

func TestDrawBounds(t *testing.T) {
	root := sim.RootKey(false)
	for _, c := range []sim.Chooser{sim.Random(5), sim.FIFO(5)} {
		seen := map[time.Duration]bool{}
		for i := range uint64(500) {
			k := root.Num(labelCall, i)
			if !sim.Chance(c, k, 3, 3) || !sim.Chance(c, k, 9, 3) {
				t.Fatal("a certain chance did not happen")
			}
			if got := sim.Pick(c, k, []uint32{0, 0, 1, 0}); got != 2 {
				t.Fatalf("picked %d", got)
			}
			if got := sim.Pick(c, k, []uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}); got > 2 {
				t.Fatalf("picked %d", got)
			}
			if got := c.Choose(k, 1); got != 0 {
				t.Fatalf("chose %d of 1", got)
			}
			d := sim.Between(c, k, 10*time.Microsecond, 13*time.Microsecond+999)
			seen[d] = true
			if d < 10*time.Microsecond || d > 13*time.Microsecond || d%time.Microsecond != 0 {
				t.Fatalf("drew %v", d)
			}
			if wide := sim.Between(c, k, math.MinInt64, math.MaxInt64); (uint64(wide)-1<<63)%1000 != 0 {
				t.Fatalf("drew %d, which is no whole number of microseconds from the least", wide)
			}
		}
		if len(seen) != 4 {
			t.Errorf("drew %v, want all four values", seen)
		}
	}
}

func TestBadDrawsPanic(t *testing.T) {
	k := sim.RootKey(true).Num(labelCall, 1)
	for _, c := range []sim.Chooser{sim.Random(0), sim.FIFO(0), sim.Replay(&sim.Recording{})} {
		sample.Panics(t, "choice call:1 has no values", func() { c.Choose(k, 0) })
		sample.Panics(t, "1 in 0", func() { sim.Chance(c, k, 1, 0) })
		sample.Panics(t, "without a weight", func() { sim.Pick(c, k, nil) })
		sample.Panics(t, "draw call:1 between 2ns and 1ns", func() { sim.Between(c, k, 2, 1) })
	}
}

func TestFIFODrawsAsRandomAndKeepsOrder(t *testing.T) {
	random, fifo := sim.Random(8), sim.FIFO(8)
	for i := range uint64(100) {
		k := sim.RootKey(false).Num(labelCall, i)
		if random.Choose(k, 1000) != fifo.Choose(k, 1000) {
			t.Fatalf("draw %d differs", i)
		}
		if fifo.Priority(k) != 0 {
			t.Fatalf("priority %d", fifo.Priority(k))
		}
	}
}

// TestChanceOf checks that ChanceOf equals Chance for the longer key, with every chooser, and leaves the same recording.
func TestChanceOf(t *testing.T) {
	segment := sim.NewSegment(sim.NewLabel("fault"), "crash")
	for name, c := range map[string]func() sim.Chooser{
		"random": func() sim.Chooser { return sim.Random(3) }, "fifo": func() sim.Chooser { return sim.FIFO(3) },
		"recorded": func() sim.Chooser { return sim.Record(sim.Random(3), &sim.Recording{}) },
	} {
		a, b, happened := c(), c(), 0
		for i := range uint64(1000) {
			k := sim.RootKey(true).Num(labelNode, i)
			got := sim.ChanceOf(a, k, &segment, i%4, 10)
			if got != sim.Chance(b, k.Then(&segment), i%4, 10) {
				t.Errorf("%s: chance %d: %v", name, i, got)
			}
			if got {
				happened++
			}
		}
		if happened < 50 || happened > 300 {
			t.Errorf("%s: %d of 1000 happen", name, happened)
		}
		sample.Panics(t, "1 in 0", func() { sim.ChanceOf(a, sim.RootKey(false), &segment, 1, 0) })
	}
}
