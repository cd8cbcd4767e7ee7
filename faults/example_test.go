package faults_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
)

// The store is busy for the first fetch: the provider is not reached, and the caller may try again.
func ExampleRefuse() {
	store := memprovider.New(memprovider.Options{})
	calls := 0
	p := faults.Refuse(store.Handle(engine.ShippedBuilds()[0].Codec, engine.Caller{Node: 1, Incarnation: 1}), func(kind engine.CallKind) error {
		if calls++; calls == 1 {
			return engine.Retryablef(kind.String(), "storage is busy")
		}
		return nil
	})
	for range 2 {
		item, err := p.FetchOrchestrationItem(context.Background(), 5*time.Second, 0, nil)
		fmt.Println(item == nil, err == nil, errors.Is(err, engine.ErrRetryable))
	}
	// Output:
	// true false true
	// true true false
}

func ExampleCatalogue() {
	for _, b := range faults.Catalogue() {
		if b.Scenario == "two-ranges" && b.Properties[0] == "S01" {
			fmt.Println(b.ID)
		}
	}
	// Output:
	// provider/any-range
	// provider/empty-filter-as-none
}

func ExampleLookup() {
	b, ok := faults.Lookup("engine/version-check-missing")
	fmt.Println(ok, b.Properties, b.Scenario, b.With)
	_, ok = faults.Lookup("engine/no-such-bug")
	fmt.Println(ok)
	// Output:
	// true [S10] rolling-upgrade [engine/filter-not-declared]
	// false
}
