package memprovider_test

import (
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// TestTextsComeBackAsStored: a text that is no UTF-8 reads the same for every build, the one that wrote it included, and
// the messages of an instance find it however its name was given.
func TestTextsComeBackAsStored(t *testing.T) {
	store := memprovider.New(memprovider.Options{Recheck: true})
	for _, version := range []string{"1.5.0", "2.0.0"} {
		p := handleOf(store, build(version).Codec, observe.Caller{Node: 1})
		raw, stored := "a\xff"+version, "a\uFFFD"+version
		sample.OK(t, p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: raw, Orchestration: "T", Input: "\xff\xfe", ExecutionID: 1}, 0))
		sample.OK(t, p.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: stored, Name: "e"}, 0))
		f, err := p.FetchOrchestrationItem(ctx, time.Second, 0, nil)
		if err != nil || f == nil || f.Item.Instance != stored || len(f.Item.Messages) != 2 {
			t.Fatalf("fetched %+v, %v", f, err)
		}
		if got := f.Item.Messages[0].(engine.StartItem); got.Instance != stored || got.Input != "\uFFFD\uFFFD" {
			t.Errorf("a message of %s came back as %q to %q", version, got.Input, got.Instance)
		}
		started := startedEvent(1)
		started.Data = eventdata.OrchestrationStarted{Name: "T", Input: "\xff"}
		sample.OK(t, p.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1, HistoryDelta: []engine.Event{started, scheduledEvent(2)}}))
		history, err := p.Read(ctx, raw)
		if err != nil || len(history) != 2 {
			t.Fatalf("read %v, %v", history, err)
		}
		if got := history[0].Data.(eventdata.OrchestrationStarted); got.Input != "\uFFFD" {
			t.Errorf("an event of %s came back with input %q", version, got.Input)
		}
	}
	if names, _ := handleOf(store, build("2.0.0").Codec, observe.Caller{}).ListInstances(ctx); len(names) != 0 {
		t.Errorf("instances rows %q", names)
	}
}
