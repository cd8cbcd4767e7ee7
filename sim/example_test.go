package sim_test

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

func ExampleKey() {
	node, fetch := sim.NewLabel("node"), sim.NewLabel("fetch")
	for _, recording := range []bool{true, false} {
		root := sim.RootKey(recording)
		fmt.Println(root.Num(node, 2).At(fetch), root.Name(node, "a/b"))
	}
	// Output:
	// node:2/fetch node:a%2Fb
	// #3d0a50042a3ce078 #f263d47468721c0e
}

func ExampleParseKey() {
	k, err := sim.ParseKey("node:2/fetch")
	same := sim.RootKey(false).Num(sim.NewLabel("node"), 2).At(sim.NewLabel("fetch"))
	fmt.Println(k, err, k.Hash() == same.Hash())
	_, err = sim.ParseKey("node 2")
	fmt.Println(err)
	// Output:
	// node:2/fetch <nil> true
	// sim: key "node 2": not in the form that String writes, which is "node%202"
}

func ExampleRandom() {
	call := sim.NewLabel("call")
	a, b := sim.RootKey(false).Num(call, 1), sim.RootKey(false).Num(call, 2)
	one, two := sim.Random(1), sim.Random(1)
	two.Choose(a, 100) // One more draw moves no other.
	fmt.Println(one.Choose(b, 100) == two.Choose(b, 100))
	// Output: true
}

func ExampleRecord() {
	var rec sim.Recording
	c := sim.Record(sim.Random(3), &rec)
	call := sim.NewLabel("call")
	for i := range uint64(8) {
		sim.Chance(c, sim.RootKey(true).Num(call, i), 1, 3)
	}
	for _, choice := range rec.Choices { // Only what is not benign.
		fmt.Println(choice.Key, choice.Value, "of", choice.N)
	}
	// Output:
	// call:1 1 of 2
	// call:4 1 of 2
	// call:7 1 of 2
}

func ExampleReplay() {
	key, err := sim.ParseKey("call:7/delay")
	if err != nil {
		fmt.Println(err)
	}
	c := sim.Replay(&sim.Recording{Choices: []sim.RecordedChoice{{Key: key, N: 4, Value: 3}}})
	call, delay := sim.NewLabel("call"), sim.NewLabel("delay")
	for i := range uint64(9) {
		fmt.Print(c.Choose(sim.RootKey(false).Num(call, i).At(delay), 4), " ")
	}
	// Output: 0 0 0 0 0 0 0 3 0
}

func ExampleDivergences() {
	call := sim.NewLabel("call")
	key := sim.RootKey(true).Num(call, 1)
	c := sim.Replay(&sim.Recording{Choices: []sim.RecordedChoice{
		{Key: key, N: 4, Value: 3},
		{Key: key.Num(call, 2), N: 2, Value: 1},
	}})
	fmt.Println(c.Choose(key, 5), sim.Divergences(c))
	// Output: 0 [choice call:1 is of 5, recorded as 3 of 4; took 0]
}

func ExampleChance() {
	call := sim.NewLabel("call")
	happened := 0
	for i := range uint64(1000) {
		if sim.Chance(sim.Random(1), sim.RootKey(false).Num(call, i), 1, 4) {
			happened++
		}
	}
	fmt.Println(happened)
	// Output: 246
}

func ExamplePick() {
	call := sim.NewLabel("call")
	var counts [3]int
	for i := range uint64(1000) {
		counts[sim.Pick(sim.Random(1), sim.RootKey(false).Num(call, i), []uint32{7, 2, 1})]++
	}
	fmt.Println(counts)
	// Output: [692 208 100]
}

func ExampleBetween() {
	key := sim.RootKey(false)
	fmt.Println(sim.Between(sim.Random(1), key, time.Millisecond, time.Second))
	fmt.Println(sim.Between(sim.Replay(&sim.Recording{}), key, time.Millisecond, time.Second)) // Nothing recorded.
	// Output:
	// 332.93ms
	// 1ms
}

// Your own chooser: here one that always takes the worst.
func ExampleChooser() {
	key := sim.RootKey(false)
	fmt.Println(sim.Between(worst{}, key, 0, time.Second), sim.Chance(worst{}, key, 1, 1000))
	// Output: 1s true
}

type worst struct{}

func (worst) Choose(_ sim.Key, n uint64) uint64     { return n - 1 }
func (worst) Weigh(_ sim.Key, odds sim.Odds) uint64 { return odds.N() - 1 }
func (worst) Priority(sim.Key) uint64               { return 0 }

func ExampleOdds() {
	fmt.Println(sim.Ratio(1, 4).N(), sim.Ratio(1, 4).Outcome(0), sim.Ratio(1, 4).Outcome(1<<63))
	fmt.Println(sim.Weights([]uint32{1, 0, 1}).N(), sim.Weights([]uint32{1, 0, 1}).Outcome(1<<63))
	// Output:
	// 2 1 0
	// 3 2
}

func ExampleParseDigest() {
	d, err := sim.ParseDigest(kernel.NewTrace().Digest().String())
	fmt.Println(d == kernel.NewTrace().Digest(), err)
	// Output: true <nil>
}

func ExampleFold() {
	a, b := sim.Digest{1}, sim.Digest{2}
	fmt.Println(sim.Fold([]sim.Digest{a, b}) == sim.Fold([]sim.Digest{b, a}))
	// Output: false
}
