package relation

import "github.com/durosim/durosim/sim"

// numbered is a chooser whose n-th answer depends only on the seed and n, not on the name of the draw. Two runs that
// make the same draws in the same order receive the same answers, even if the draws have different names.
type numbered struct{ state uint64 }

// next returns the next number from a SplitMix64 generator.
func (c *numbered) next() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (c *numbered) Choose(_ sim.Key, n uint64) uint64 {
	if n == 0 {
		panic("relation: a choice among no values")
	}
	return c.next() % n
}

func (c *numbered) Weigh(_ sim.Key, odds sim.Odds) uint64 { return odds.Outcome(c.next()) }

func (c *numbered) Priority(sim.Key) uint64 { return c.next() }
