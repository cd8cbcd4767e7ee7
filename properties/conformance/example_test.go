package conformance_test

import (
	"context"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// newStore makes an empty store for each case and says which operations the store offers.
func newStore() (*conformance.Store, error) {
	store := memprovider.New(memprovider.Options{StartMs: 1_000_000})
	return &conformance.Store{
		Provider:   store.Handle(codec(), observe.Caller{}),
		Advance:    func(d time.Duration) { store.SetNow(store.Now() + d.Milliseconds()) },
		NowMs:      store.Now,
		Sequential: true,
	}, nil
}

// In a test of your own, write
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Factory{New: newStore})
//	}
//
// which runs each case as a subtest. Ask does the same outside go test.
func ExampleAsk() {
	passed := 0
	skipped := map[string]int{}
	for _, r := range conformance.Ask(conformance.Factory{New: newStore}) {
		switch {
		case r.Failure != "":
			fmt.Println(r.Failure)
		case r.Skipped != "":
			skipped[r.Skipped]++
		default:
			passed++
		}
	}
	fmt.Println(passed, "cases passed, skipped:", skipped["the store cannot damage a history (corrupt_event; in Go, Store.CorruptHistory)"], "without damage")
	// Output:
	// 418 cases passed, skipped: 20 without damage
}

// brittle never releases its locks.
type brittle struct{ engine.Provider }

func (p brittle) AbandonOrchestrationItem(context.Context, string, time.Duration, bool) error {
	return nil
}

// A failure shows the calls and the expected answer.
func ExampleRun() {
	factory := conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := newStore()
		in.Provider = brittle{in.Provider}
		return in, err
	}}
	fmt.Println(conformance.Ask(factory, "LX-02")[0].Failure)
	// Output:
	// LX-02 abandon_releases_lock_immediately
	// An abandoned instance can be fetched at once.
	//
	//     send start:A
	//     fetch t lock=1000 -> A#1 x1 [start]
	//     abandon t
	//     fetch -> none
	//
	// fetch
	//   got  none
	//   want A#1 x2 [start]
}

// A script comes back with the answers that the store gave.
func ExampleScript() {
	store, _ := newStore()
	script := conformance.NewScript(store, map[string]func([]string) (string, error){
		"clock": func([]string) (string, error) { return fmt.Sprint(store.NowMs()), nil },
	})
	fmt.Println(script.Play(`make A send=ext:A:e
fetch t lock=1000 -> none
wait 1000
ack t
clock`))
	// Output:
	// make A send=ext:A:e
	// fetch t lock=1000 -> A#1 x1 [ext:e]
	// wait 1000
	// ack t -> perm
	// clock -> 1001000
}
