package memprovider_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// BenchmarkFilteredFetch fetches and abandons one instance that stands behind a growing number that the filter leaves
// out. ns/fetch must stay flat; BenchmarkFilteredFetchFloor is the floor.
func BenchmarkFilteredFetch(b *testing.B) {
	for _, skipped := range []int{1e2, 1e3, 1e4, 1e5, 1e6} {
		b.Run(fmt.Sprintf("skipped=%.0e", float64(skipped)), func(b *testing.B) {
			p := crowded(b, skipped)
			filter := filterOf("1.0.0..1.9.9")
			runtime.GC() // so that garbage from making the crowd does not count for the fetch
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				f, err := p.FetchOrchestrationItem(ctx, time.Second, 0, filter)
				if f == nil || err != nil {
					b.Fatal(f, err)
				}
				if err := p.AbandonOrchestrationItem(ctx, f.LockToken, 0, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFilteredFetchFloor is what a fetch and an abandon cannot do without: a look into a map of as many names, a
// message and an answer that are allocated, and the instance taken out of a queue and put back.
func BenchmarkFilteredFetchFloor(b *testing.B) {
	for _, skipped := range []int{1e2, 1e6} {
		b.Run(fmt.Sprintf("skipped=%.0e", float64(skipped)), func(b *testing.B) {
			names := make(map[string]int, skipped)
			for i := range skipped + 1 {
				names[fmt.Sprintf("instance-%d", i)] = i
			}
			last, queue := fmt.Sprintf("instance-%d", skipped), []int{skipped}
			var answer *engine.FetchedOrchestration
			b.ReportAllocs()
			for b.Loop() {
				queue = queue[:0]
				answer = &engine.FetchedOrchestration{LockToken: "o1"}
				answer.Item.Messages = make([]engine.WorkItem, 0, 1)
				queue = append(queue, names[last])
			}
			if answer == nil || queue[0] != skipped {
				b.Fatal("nothing was fetched")
			}
		})
	}
}

// BenchmarkFetchNothing is a filtered fetch that finds only what it must skip.
func BenchmarkFetchNothing(b *testing.B) {
	for _, skipped := range []int{1e2, 1e6} {
		b.Run(fmt.Sprintf("skipped=%.0e", float64(skipped)), func(b *testing.B) {
			p := crowded(b, skipped)
			filter := filterOf("2.0.0..2.9.9")
			for b.Loop() {
				if f, err := p.FetchOrchestrationItem(ctx, time.Second, 0, filter); f != nil || err != nil {
					b.Fatal(f, err)
				}
			}
		})
	}
}

// crowded is a store with many instances pinned to 3.0.0, and one pinned to 1.0.0 after them; each has a message.
func crowded(b *testing.B, skipped int) fullHandle {
	store := memprovider.New(memprovider.Options{})
	p := handleOf(store, build("2.0.0").Codec, observe.Caller{Node: 1})
	data, err := build("2.0.0").Codec.AppendEvent(nil, startedEvent(1))
	if err != nil {
		b.Fatal(err)
	}
	for i := range skipped + 1 {
		pin := engine.V(3, 0, 0)
		if i == skipped {
			pin = engine.V(1, 0, 0)
		}
		name := fmt.Sprintf("instance-%d", i)
		seed := memprovider.PreloadedInstance{Instance: name, Orchestration: "TestOrch", Version: "1.0.0", Executions: []memprovider.PreloadedExecution{
			{ID: 1, Pin: &pin, Events: []memprovider.PreloadedEvent{{ID: 1, Data: data}}},
		}}
		if err := store.Preload(seed); err != nil {
			b.Fatal(err)
		}
		if err := p.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: name, Name: "e"}, 0); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// discard is a sink that ignores everything.
type discard struct{ n int }

func (d *discard) Observe(*observe.Observation) { d.n++ }

// BenchmarkAckTurn is a whole turn of a growing instance: enqueue, fetch, ack of two events with one activity, fetch and
// ack of the activity. It starts a new instance every 32 turns.
func BenchmarkAckTurn(b *testing.B) {
	for _, c := range []struct {
		name  string
		sink  observe.Sink
		rules *memprovider.Rules
	}{
		{"unwatched", nil, nil}, {"watched", &discard{}, nil}, {"two indexes", nil, memprovider.DefaultRules()},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			turns(b, memprovider.New(memprovider.Options{Sink: c.sink, Rules: c.rules}))
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

func turns(b *testing.B, store *memprovider.Store) {
	p := handleOf(store, build("2.0.0").Codec, observe.Caller{Node: 1})
	filter := filterOf("0.0.0..2.0.0")
	pin := engine.V(2, 0, 0)
	name, n := "", uint64(0)
	for i := 0; b.Loop(); i++ {
		var item engine.WorkItem
		var events []engine.Event
		var metadata engine.ExecutionMetadata
		if i%32 == 0 {
			name, n = fmt.Sprintf("instance-%d", i/32), 1
			item, events = engine.StartItem{Instance: name, Orchestration: "TestOrch", ExecutionID: 1}, []engine.Event{startedEvent(1)}
			metadata = engine.ExecutionMetadata{OrchestrationName: "TestOrch", OrchestrationVersion: "1.0.0", PinnedVersion: &pin}
		} else {
			item = engine.ExternalRaisedItem{Instance: name, Name: "e"}
			events = []engine.Event{{EventID: n + 1, InstanceID: name, ExecutionID: 1, Data: eventdata.ExternalEvent{Name: "e"}}}
			n++
		}
		n++
		events = append(events, engine.Event{EventID: n, InstanceID: name, ExecutionID: 1, Data: eventdata.ActivityScheduled{Name: "Act"}})
		if err := p.EnqueueForOrchestrator(ctx, item, 0); err != nil {
			b.Fatal(err)
		}
		f, err := p.FetchOrchestrationItem(ctx, time.Second, 0, filter)
		if err != nil {
			b.Fatal(err)
		}
		err = p.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1, HistoryDelta: events, Metadata: metadata,
			WorkerItems: []engine.WorkItem{engine.ActivityExecuteItem{Instance: name, ExecutionID: 1, ID: n, Name: "Act"}}})
		if err != nil {
			b.Fatal(err)
		}
		w, err := p.FetchWorkItem(ctx, time.Second, 0, nil, engine.TagFilter{})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.AckWorkItem(ctx, w.LockToken, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareMap is the floor: the same turn, with the same encodings, in maps and slices without any rule.
func BenchmarkBareMap(b *testing.B) {
	codec := build("2.0.0").Codec
	histories := map[string][][]byte{}
	var queue, work [][]byte
	b.ReportAllocs()
	name, n := "", uint64(0)
	for i := 0; b.Loop(); i++ {
		if i%32 == 0 {
			name, n = fmt.Sprintf("instance-%d", i/32), 0
		}
		m, _ := codec.AppendWorkItem(nil, engine.ExternalRaisedItem{Instance: name, Name: "e"})
		queue = append(queue, m)
		h := histories[name]
		for _, data := range []engine.EventData{eventdata.ExternalEvent{Name: "e"}, eventdata.ActivityScheduled{Name: "Act"}} {
			n++
			e, _ := codec.AppendEvent(nil, engine.Event{EventID: n, InstanceID: name, ExecutionID: 1, Data: data})
			h = append(h, e)
		}
		histories[name] = h
		a, _ := codec.AppendWorkItem(nil, engine.ActivityExecuteItem{Instance: name, ExecutionID: 1, ID: n, Name: "Act"})
		work = append(work, a)
		queue, work = queue[:0], work[:0]
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// BenchmarkSetNow advances the time without an effect, with many instances waiting.
func BenchmarkSetNow(b *testing.B) {
	store := memprovider.New(memprovider.Options{})
	p := handleOf(store, build("2.0.0").Codec, observe.Caller{})
	for i := range 10_000 {
		_ = p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: fmt.Sprint(i), Orchestration: "T"}, time.Duration(1<<60))
	}
	for b.Loop() {
		store.SetNow(store.Now() + 1)
	}
}
