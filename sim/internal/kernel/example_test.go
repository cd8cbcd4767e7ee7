package kernel_test

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
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
		k, err := kernel.New[event](kernel.Options{Chooser: c})
		if err != nil {
			fmt.Println(err)
			return
		}
		root := sim.RootKey(true)
		trace := kernel.NewTrace()
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
	// sha256:1c37430c
	//   recorded ping:0/try:0/latency = 15333 of 19001
	//   recorded ping:1/try:0/lost = 1 of 2
	//   recorded ping:1/try:1/latency = 1873 of 19001
	// 0s ping:0/try:0 takes 16.333ms
	// 0s ping:1/try:0 is lost
	// 1s ping:1/try:1 takes 2.873ms
	// sha256:1c37430c
}

func ExampleNew() {
	_, err := kernel.New[string](kernel.Options{})
	fmt.Println(err)
	k, err := kernel.New[string](kernel.Options{Chooser: sim.Random(1), StepBudget: 1000})
	fmt.Println(k.Now() == sim.Epoch, err)
	// Output:
	// sim: Options.Chooser is not set
	// true <nil>
}

func ExampleKernel() {
	k, _ := kernel.New[string](kernel.Options{Chooser: sim.FIFO(1)})
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
	k, _ := kernel.New[string](kernel.Options{Chooser: sim.FIFO(1), StepBudget: 3})
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

func ExampleFIFO() {
	k, _ := kernel.New[string](kernel.Options{Chooser: sim.FIFO(1)})
	call := sim.NewLabel("call")
	for i, name := range []string{"a", "b", "c"} {
		k.After(time.Second, sim.RootKey(false).Num(call, uint64(i)), name)
	}
	for e, ok := k.Next(); ok; e, ok = k.Next() {
		fmt.Print(e, " ")
	}
	// Output: a b c
}

func ExampleTrace() {
	t := kernel.NewTrace()
	t.Begin(sim.Epoch, 1)
	t.Uint(7)
	t.Str("fetch")
	t.End()
	fmt.Println(t.Records(), t.Digest())
	// Output: 1 sha256:6fce238dc435c8ba4ddddc8c83ef860342d28a08d2aea5ccd8c12de2d94384f2
}

func ExampleTrace_Keep() {
	run := func(third int64) []sim.Mark {
		t := kernel.NewTrace()
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
