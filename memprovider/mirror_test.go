package memprovider_test

import (
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// TestFollow checks that a store that follows another one delivers what that one has delivered, whatever it would choose
// itself.
func TestFollow(t *testing.T) {
	store := memprovider.New(memprovider.Options{StartMs: 1})
	p := store.Handle(build("2.0.0").Codec, observe.Caller{})
	for _, in := range []string{"A", "B"} {
		_ = p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: in, Orchestration: "Order"}, 0)
		for id := uint64(1); id <= 2; id++ {
			_ = p.EnqueueForWorker(ctx, engine.ActivityExecuteItem{Instance: in, ExecutionID: 1, ID: id, Name: "Act"})
		}
	}
	fetch := func(l *memprovider.Found) string {
		if l != nil {
			store.Mirror(*l)
		}
		got, err := p.FetchOrchestrationItem(ctx, time.Minute, 0, nil)
		switch {
		case err != nil:
			return err.Error()
		case got == nil:
			return "none"
		}
		return got.Item.Instance
	}
	for _, c := range []struct {
		name  string
		found *memprovider.Found
		want  string
	}{
		{"nothing, although there is something", &memprovider.Found{}, "none"},
		{"not the first", &memprovider.Found{Instance: "B"}, "B"},
		{"one that is locked", &memprovider.Found{Instance: "B"}, "B"},
		{"one that it does not know", &memprovider.Found{Instance: "C"}, "none"},
		{"nothing to mirror: that was for one call", nil, "A"},
		{"nothing is left", nil, "none"},
	} {
		if got := fetch(c.found); got != c.want {
			t.Errorf("%s: fetched %s, want %s", c.name, got, c.want)
		}
	}
	store.Mirror(memprovider.Found{Work: &engine.ActivityExecuteItem{Instance: "B", ExecutionID: 1, ID: 2}})
	work, err := p.FetchWorkItem(ctx, time.Minute, 0, nil, engine.TagFilter{})
	if err != nil || work == nil {
		t.Fatalf("no work: %v", err)
	}
	if item, ok := work.Item.(engine.ActivityExecuteItem); !ok || item.Instance != "B" || item.ID != 2 {
		t.Errorf("worked on %+v", work.Item)
	}
	store.Mirror(memprovider.Found{Work: &engine.ActivityExecuteItem{Instance: "B", ExecutionID: 2, ID: 2}})
	if work, err = p.FetchWorkItem(ctx, time.Minute, 0, nil, engine.TagFilter{}); work != nil || err != nil {
		t.Errorf("work that is not there: %+v, %v", work, err)
	}
}
