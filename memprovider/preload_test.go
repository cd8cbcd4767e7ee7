package memprovider_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// TestSeedOfKeptState checks that a preloaded custom status and key-value store exist.
func TestSeedOfKeptState(t *testing.T) {
	status := "waiting"
	seed := memprovider.PreloadedInstance{Instance: "A", Orchestration: "TestOrch", CustomStatus: &status,
		KV: []engine.KVEntry{{Key: "b", Value: "2"}, {Key: "a", Value: "1", LastUpdatedAtMs: 7}}, Executions: []memprovider.PreloadedExecution{{ID: 1}}}
	w := newWorld(memprovider.Options{})
	sample.OK(t, w.store.Preload(seed))
	w.check(t, `
		status A 0 -> waiting v1
		kvs A -> {a=1 b=2}
		info A -> TestOrch@unknown #1 Running
		send ext:A:e
		fetch +kvtime -> A#1 x1 [ext:e] kv{a=1@7 b=2@0}`)
	seed.Instance, seed.Orchestration = "B", ""
	if err := w.store.Preload(seed); err == nil || !strings.Contains(err.Error(), "a custom status needs an orchestration") {
		t.Errorf("a custom status without a row: %v", err)
	}
}
