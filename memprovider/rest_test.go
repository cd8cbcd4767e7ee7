package memprovider_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// TestRest checks that a store with many instances keeps no decoded events of ended ones, without a visible difference.
func TestRest(t *testing.T) {
	few, many := endedStory(t, 0), endedStory(t, 1100)
	if diff := cmp.Diff(few, many); diff != "" {
		t.Errorf("-few instances +many\n%s", diff)
	}
	if !strings.Contains(few[1], "e2(cached)") || !strings.Contains(few[3], "e2!") {
		t.Errorf("it was to be read from the cache, and not be readable for the old build: %q", few)
	}
}

// endedStory ends an instance in a store with so many others, and tells what is read of it afterwards, and how.
func endedStory(t *testing.T, others int) []string {
	log := &decodeLog{}
	store := memprovider.New(memprovider.Options{Sink: log})
	handle := func(version string, node uint32) fullHandle {
		return handleOf(store, build(version).Codec, observe.Caller{Node: node})
	}
	writer, old := handle("2.0.0", 1), handle("1.5.0", 2)
	must := func(err error) { t.Helper(); sample.OK(t, err) }
	for i := range others {
		must(writer.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: fmt.Sprint("other-", i), Orchestration: "T"}, time.Hour))
	}
	must(writer.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "a", Orchestration: "T"}, 0))
	var told []string
	turn := func(p fullHandle, ack engine.OrchestrationAck) {
		t.Helper()
		log.lines = nil
		f, err := p.FetchOrchestrationItem(ctx, time.Second, 0, nil)
		must(err)
		told = append(told, fmt.Sprintf("%v, error %t: %s", f.Item.History, f.Item.HistoryError != "", anyMessage.ReplaceAllString(strings.Join(log.lines, " "), "m")))
		if f.Item.HistoryError != "" {
			must(p.AbandonOrchestrationItem(ctx, f.LockToken, 0, false))
			return
		}
		ack.LockToken, ack.ExecutionID = f.LockToken, 1
		must(p.AckOrchestrationItem(ctx, ack))
	}
	turn(writer, engine.OrchestrationAck{
		HistoryDelta: []engine.Event{startedEvent(1), {EventID: 2, ExecutionID: 1, Data: eventdata.ExternalSubscribed2{Name: "n", Topic: "t"}}},
		Metadata:     engine.ExecutionMetadata{OrchestrationName: "T", Status: engine.StatusCompleted},
	})
	must(writer.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "a", Name: "n"}, 0))
	turn(writer, engine.OrchestrationAck{HistoryDelta: []engine.Event{scheduledEvent(3)}}) // an ended execution gets an event
	must(writer.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "a", Name: "n"}, 0))
	turn(writer, engine.OrchestrationAck{})
	must(writer.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "a", Name: "n"}, 0))
	turn(old, engine.OrchestrationAck{})
	turn(old, engine.OrchestrationAck{})
	return slices.Clip(told)
}

// anyMessage matches the number of a message, which depends on the number of earlier ones.
var anyMessage = regexp.MustCompile(`\bm\d+`)
