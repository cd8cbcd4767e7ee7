package sim_test

import (
	"testing"
	"time"

	"github.com/durosim/durosim/sim"
)

func BenchmarkChoose(b *testing.B) {
	var sink uint64
	node := sim.RootKey(false).Num(labelNode, 3)
	weights := []uint32{90, 5, 5}
	for _, c := range []struct {
		name string
		draw func(c sim.Chooser, k sim.Key) uint64
	}{
		{"Choose", func(c sim.Chooser, k sim.Key) uint64 { return c.Choose(k, 10) }},
		{"Chance", func(c sim.Chooser, k sim.Key) uint64 {
			if sim.Chance(c, k, 1, 10) {
				return 1
			}
			return 0
		}},
		{"Pick", func(c sim.Chooser, k sim.Key) uint64 { return uint64(sim.Pick(c, k, weights)) }},
		{"Between", func(c sim.Chooser, k sim.Key) uint64 {
			return uint64(sim.Between(c, k, time.Millisecond, time.Second))
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			chooser := sim.Random(1)
			b.ReportAllocs()
			for i := range b.N {
				sink += c.draw(chooser, node.Num(labelCall, uint64(i)))
			}
		})
	}
	b.Run("recorded", func(b *testing.B) {
		chooser := sim.Record(sim.Random(1), &sim.Recording{})
		root := sim.RootKey(true).Num(labelNode, 3)
		b.ReportAllocs()
		for i := range b.N {
			sink += chooser.Choose(root.Num(labelCall, uint64(i)), 10)
		}
	})
}
