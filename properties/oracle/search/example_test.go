package search_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
)

// newStore makes an empty in-memory store whose clock the test moves.
func newStore() (*undertest.Store, error) {
	store := memprovider.New(memprovider.Options{StartMs: 1000})
	return &undertest.Store{
		Provider: store.Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{}),
		NowMs:    store.Now,
		Advance:  func(d time.Duration) { store.SetNow(store.Now() + d.Milliseconds()) },
	}, nil
}

// To test a provider, put this into func TestProvider(t *testing.T).
func ExampleCheck() {
	TestProvider := func(t *testing.T) {
		search.Check(t, undertest.Factory{New: newStore}, search.Options{Sequences: 20000})
	}
	_ = TestProvider
}

// Search works outside tests, too.
func ExampleSearch() {
	report, err := search.Search(undertest.Factory{New: newStore}, search.Options{First: 7, Sequences: 10})
	fmt.Println(report.Passed, report.Unknown() == nil, report.LeftOut[0], err)
	// Output:
	// 10 true histories that cannot be decoded: the store has no CorruptHistory <nil>
}
