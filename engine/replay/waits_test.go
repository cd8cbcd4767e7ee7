package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/replay"
)

func TestOpenWaits(t *testing.T) {
	wait, topic, dequeue := eventdata.ExternalSubscribed{Name: "go"}, eventdata.ExternalSubscribed2{Name: "go", Topic: "eu"}, eventdata.QueueSubscribed{Name: "go"}
	came, came2, message := eventdata.ExternalEvent{Name: "go"}, eventdata.ExternalEvent2{Name: "go", Topic: "eu"}, eventdata.QueueEventDelivered{Name: "go"}
	cancelled, unqueued := eventdata.ExternalSubscribedCancelled{}, eventdata.QueueSubscriptionCancelled{}
	discards := &engine.Build{Semantics: engine.SemanticsDiscard}
	for _, c := range []struct {
		name    string
		history []engine.EventData
		sources []uint64 // source event ids, indexed by position
		want    []uint64
		build   *engine.Build
	}{
		{"nothing", nil, nil, nil, nil},
		{"one of each", []engine.EventData{dequeue, wait, topic}, nil, []uint64{1, 2, 3}, nil},
		{"arrived", []engine.EventData{wait, topic, dequeue, came, came2, message}, nil, nil, nil},
		{"arrived too early: a wait skips it, a dequeue takes it", []engine.EventData{came, message, wait, dequeue}, nil, []uint64{3}, nil},
		{"another generation", []engine.EventData{wait, came2, topic, came}, nil, []uint64{3}, nil},
		{"another topic", []engine.EventData{topic, eventdata.ExternalEvent2{Name: "go", Topic: "us"}}, nil, []uint64{1}, nil},
		{"the first of two", []engine.EventData{wait, wait, came}, nil, []uint64{2}, nil},
		{"cancelled before the arrival", []engine.EventData{wait, wait, cancelled, came}, []uint64{0, 0, 1, 0}, nil, nil},
		{"cancelled after it: it passes to the next wait", []engine.EventData{wait, wait, came, cancelled}, []uint64{0, 0, 0, 1}, nil, nil},
		{"cancelled after it, where it is discarded", []engine.EventData{wait, wait, came, cancelled}, []uint64{0, 0, 0, 1}, []uint64{2}, discards},
		{"cancelled dequeue", []engine.EventData{dequeue, dequeue, message, unqueued}, []uint64{0, 0, 0, 1}, nil, nil},
		{"one message for two dequeues", []engine.EventData{dequeue, message, dequeue}, nil, []uint64{3}, nil},
	} {
		var history []engine.Event
		for i, d := range c.history {
			e := engine.Event{EventID: uint64(i + 1), Data: d}
			if c.sources != nil {
				e.SourceEventID = c.sources[i]
			}
			history = append(history, e)
		}
		var got []uint64
		for _, e := range replay.OpenWaits(history, c.build) {
			got = append(got, e.EventID)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: open waits differ (-want +got):\n%s", c.name, d)
		}
	}
}
