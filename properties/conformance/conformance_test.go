package conformance_test

import (
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// memory makes stores of the given rules, nil for the right ones, in virtual time.
func memory(rules *memprovider.Rules) conformance.Factory {
	return conformance.Factory{New: func(testing.TB) *conformance.Instance {
		store := memprovider.New(memprovider.Options{Rules: rules, StartMs: 1_000_000, Recheck: true})
		return &conformance.Instance{
			Provider: store.Handle(codec(), engine.Caller{Node: 1, Incarnation: 1}),
			Advance:  func(d time.Duration) { store.SetNow(store.Now() + d.Milliseconds()) },
			NowMs:    store.Now,
			CorruptHistory: func(instance string, execution, event uint64) error {
				return store.Damage(instance, execution, event, []byte("{"))
			},
			Sequential: true,
		}
	}}
}

// codec reads and writes every kind of event.
func codec() engine.Codec {
	for _, b := range engine.ShippedBuilds() {
		if b.Name() == "2.0.0" {
			return b.Codec
		}
	}
	panic("no build 2.0.0")
}

// TestMemprovider asks memprovider everything, in virtual time.
func TestMemprovider(t *testing.T) { conformance.Run(t, memory(nil)) }

// TestMemproviderWithTwoIndexes asks it with rules of its own, which are the right ones: the index by them is another
// one, and finds the same.
func TestMemproviderWithTwoIndexes(t *testing.T) {
	conformance.Run(t, memory(memprovider.DefaultRules()))
}
