package sim_test

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/sim"
)

// Two pings cross a network that delays each and loses some. The run is a function of the seed alone.
func Example() {
	type event struct {
		ping uint64
		try  uint64
	}
	var (
		ping    = sim.NewLabel("ping")
		try     = sim.NewLabel("try")
		lost    = sim.NewLabel("lost")
		latency = sim.NewLabel("latency")
	)
	run := func(c sim.Chooser) {
		k, err := sim.New[event](sim.Options{Chooser: c})
		if err != nil {
			fmt.Println(err)
			return
		}
		root := sim.RootKey(true)
		trace := sim.NewTrace()
		for p := range uint64(2) {
			k.After(0, root.Num(ping, p), event{ping: p})
		}
		for e, ok := k.Next(); ok; e, ok = k.Next() {
			k.Step()
			trace.Begin(k.Now(), 1)
			trace.Uint(e.ping)
			trace.Uint(e.try)
			trace.End()

			key := root.Num(ping, e.ping).Num(try, e.try)
			if sim.Chance(c, key.At(lost), 1, 2) {
				fmt.Println(k.Now().Sub(sim.Epoch), key, "is lost")
				k.After(time.Second, key, event{e.ping, e.try + 1})
				continue
			}
			d := sim.Between(c, key.At(latency), time.Millisecond, 20*time.Millisecond)
			fmt.Println(k.Now().Sub(sim.Epoch), key, "takes", d)
		}
		fmt.Println(trace.Digest().String()[:15])
	}

	var recording sim.Recording
	run(sim.Record(sim.Random(2), &recording))
	for _, choice := range recording.Choices {
		fmt.Println("  recorded", choice.Key, "=", choice.Value, "of", choice.N)
	}
	run(sim.Replay(&recording))
	// Output:
	// 0s ping:0/try:0 takes 16.333ms
	// 0s ping:1/try:0 is lost
	// 1s ping:1/try:1 takes 2.873ms
	// sha256:33650e71
	//   recorded ping:0/try:0/latency = 15333 of 19001
	//   recorded ping:1/try:0/lost = 1 of 2
	//   recorded ping:1/try:1/latency = 1873 of 19001
	// 0s ping:0/try:0 takes 16.333ms
	// 0s ping:1/try:0 is lost
	// 1s ping:1/try:1 takes 2.873ms
	// sha256:33650e71
}

func ExampleNew() {
	_, err := sim.New[string](sim.Options{})
	fmt.Println(err)
	k, err := sim.New[string](sim.Options{Chooser: sim.Random(1), StepBudget: 1000})
	fmt.Println(k.Now() == sim.Epoch, err)
	// Output:
	// sim: Options.Chooser is not set
	// true <nil>
}

func ExampleKernel() {
	k, _ := sim.New[string](sim.Options{Chooser: sim.FIFO(1)})
	key := sim.RootKey(false)
	k.After(2*time.Second, key, "second")
	k.At(k.Now().Add(time.Second), key, "first")
	dropped := k.After(3*time.Second, key, "never")
	fmt.Println(k.Cancel(dropped), k.Cancel(dropped), k.Len())
	for {
		due, _ := k.Peek()
		e, ok := k.Next()
		if !ok {
			break
		}
		k.Step()
		fmt.Println(e, due == k.Now(), k.Now().Sub(sim.Epoch))
	}
	fmt.Println(k.Steps(), k.Exhausted())
	// Output:
	// true false 2
	// first true 1s
	// second true 2s
	// 2 false
}

func ExampleKernel_Exhausted() {
	k, _ := sim.New[string](sim.Options{Chooser: sim.FIFO(1), StepBudget: 3})
	key := sim.RootKey(false)
	k.After(time.Second, key, "tick")
	for e, ok := k.Next(); ok; e, ok = k.Next() {
		k.Step()
		k.After(time.Second, key, e)
	}
	fmt.Println(k.Steps(), k.Len(), k.Exhausted())
	// Output: 3 1 true
}

func ExampleTime() {
	t := sim.Epoch.Add(1999 * time.Microsecond)
	fmt.Println(t, t.Millis(), t.Sub(sim.Epoch))
	// Output: 1735689600001999 1735689600001 1.999ms
}

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

func ExampleFIFO() {
	k, _ := sim.New[string](sim.Options{Chooser: sim.FIFO(1)})
	call := sim.NewLabel("call")
	for i, name := range []string{"a", "b", "c"} {
		k.After(time.Second, sim.RootKey(false).Num(call, uint64(i)), name)
	}
	for e, ok := k.Next(); ok; e, ok = k.Next() {
		fmt.Print(e, " ")
	}
	// Output: a b c
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

func ExampleReplayer() {
	call := sim.NewLabel("call")
	key := sim.RootKey(true).Num(call, 1)
	r := sim.NewReplayer(&sim.Recording{Choices: []sim.RecordedChoice{
		{Key: key, N: 4, Value: 3},
		{Key: key.Num(call, 2), N: 2, Value: 1},
	}})
	fmt.Println(r.Choose(key, 5), r.Divergences(), r.Unused())
	// Output: 0 [choice call:1 is of 5, recorded as 3 of 4; took 0] [call:1/call:2]
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

// A chooser of one's own: here one that always takes the worst.
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

func ExampleTrace() {
	t := sim.NewTrace()
	t.Begin(sim.Epoch, 1)
	t.Uint(7)
	t.Str("fetch")
	t.End()
	fmt.Println(t.Records(), t.Digest())
	// Output: 1 sha256:f0c576d1e5716823d3b7601aef78d72292c05320744e48c3817d7446a1261a62
}

func ExampleTrace_Keep() {
	run := func(third int64) []sim.Mark {
		t := sim.NewTrace()
		var marks []sim.Mark
		t.Keep(func(index, sum uint64) { marks = append(marks, sim.Mark{Index: index, Sum: sum}) })
		for _, v := range []int64{1, 2, third, 4} {
			t.Begin(sim.Epoch, 1)
			t.Int(v)
			t.End()
		}
		return marks
	}
	fmt.Println(sim.FirstDifference(run(3), run(3)), sim.FirstDifference(run(3), run(-3)))
	// Output: -1 2
}

func ExampleParseDigest() {
	d, err := sim.ParseDigest(sim.NewTrace().Digest().String())
	fmt.Println(d == sim.NewTrace().Digest(), err)
	// Output: true <nil>
}

func ExampleFold() {
	a, b := sim.Digest{1}, sim.Digest{2}
	fmt.Println(sim.Fold([]sim.Digest{a, b}) == sim.Fold([]sim.Digest{b, a}))
	// Output: false
}
