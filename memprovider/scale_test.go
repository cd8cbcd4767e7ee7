package memprovider_test

import (
	"container/heap"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// scales are the instance counts of the benchmarks.
var scales = []int{1e2, 1e3, 1e4, 1e5, 1e6}

// BenchmarkScale makes one call, and what takes it back, in stores of 10² to 10⁶ instances, which all have a message and an
// activity that the call must look past. Each line's "least-ns" is the time of a call in the quickest batch, which a
// busy machine spoils least, and "times-1e2" is that over the one of the first line of its kind: a cost that does not grow
// stays about 1, caches aside. "bare map and heap" is the floor: the
// look-up of one in a map, and its way out of a binary heap and back in, at that size. "B/instance" is an idle instance: a row, an execution and its first event.
func BenchmarkScale(b *testing.B) {
	first := map[string]float64{} // looked up only
	for _, n := range scales {
		var s *town
		floor := newFloor(n)
		for _, c := range []struct {
			name string
			once func(b *testing.B)
		}{
			{"bare map and heap", func(*testing.B) { floor.once() }},
			{"fetch", func(b *testing.B) { s.fetch(b, nil, "crowd-0") }},
			{"filtered fetch", func(b *testing.B) { s.fetch(b, s.filter, "last") }},
			{"fetch of nothing", func(b *testing.B) { s.fetch(b, s.nobody, "") }},
			{"fetch and ack", func(b *testing.B) { s.turn(b, false) }},
			{"fetch, ack and cancellation", func(b *testing.B) { s.turn(b, true) }},
			{"work fetch with tag", func(b *testing.B) { s.work(b, nil, "mine") }},
			{"work fetch with session", func(b *testing.B) { s.work(b, s.owner, "ours") }},
			{"work fetch past sessions", func(b *testing.B) { s.work(b, s.owner, "crowd") }},
		} {
			b.Run(fmt.Sprintf("%s/instances=%.0e", c.name, float64(n)), func(b *testing.B) {
				if s == nil && c.name != "bare map and heap" {
					s = newTown(b, n)
				}
				perOp := minPerOp(b, c.once)
				if n == scales[0] {
					first[c.name] = perOp
				}
				if first[c.name] > 0 {
					b.ReportMetric(perOp/first[c.name], "times-1e2")
				}
				b.ReportMetric(perOp, "least-ns")
				if c.name == "fetch" {
					b.ReportMetric(s.bytes, "B/instance")
				}
			})
		}
	}
}

// minPerOp runs the benchmark and returns the time of a call in the fastest batch, in nanoseconds.
func minPerOp(b *testing.B, once func(*testing.B)) float64 {
	const batch = 64
	least, from, i := time.Duration(0), time.Duration(0), 0
	for b.Loop() {
		once(b)
		if i++; i%batch == 0 {
			now := b.Elapsed()
			if d := now - from; least == 0 || d < least {
				least = d
			}
			from = now
		}
	}
	if least == 0 {
		return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	}
	return float64(least.Nanoseconds()) / batch
}

// town is a crowded store: n instances pinned 3.0.0, each with a message, an activity with tag crowd of a session that
// somebody else owns, and behind them the instance "last", pinned 1.0.0, with a message and activities of its own.
type town struct {
	fullHandle
	bytes          float64
	filter, nobody *engine.CapabilityFilter
	owner          *engine.SessionFetchConfig
	events         uint64
}

func newTown(tb testing.TB, n int) *town {
	tb.Helper()
	must := func(err error) { tb.Helper(); sample.OK(tb, err) }
	store := memprovider.New(memprovider.Options{})
	codec := build("2.0.0").Codec
	s := &town{fullHandle: handleOf(store, codec, observe.Caller{Node: 1}), filter: filterOf("1.0.0..1.9.9"), nobody: filterOf("2.0.0..2.9.9"), events: 1}
	s.owner = &engine.SessionFetchConfig{OwnerID: "me", LockTimeout: time.Hour}
	s.bytes = idle(tb, store, n)
	others := &engine.SessionFetchConfig{OwnerID: "others", LockTimeout: time.Hour}
	crowd := engine.TagFilter{Mode: engine.TagTags, Tags: []string{"crowd"}}
	for i := range n {
		name := fmt.Sprint("crowd-", i)
		must(s.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: name, Name: "e"}, 0))
		must(s.EnqueueForWorker(ctx, engine.ActivityExecuteItem{Instance: name, ExecutionID: 1, ID: 2, Name: "Act", Tag: "crowd", SessionID: name}))
		_, err := s.FetchWorkItem(ctx, time.Millisecond, 0, others, crowd)
		must(err)
	}
	store.SetNow(store.Now() + 1) // the activities are free again, but the sessions are not
	pin := engine.V(1, 0, 0)
	must(store.Preload(memprovider.PreloadedInstance{Instance: "last", Orchestration: "T", Version: "1.0.0", Executions: []memprovider.PreloadedExecution{{ID: 1, Pin: &pin}}}))
	must(s.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "last", Name: "e"}, 0))
	for id, tag := range []string{"mine", "ours", "crowd"} {
		a := engine.ActivityExecuteItem{Instance: "last", ExecutionID: 1, ID: uint64(id), Name: "Act", Tag: tag}
		if tag != "mine" {
			a.SessionID = tag
		}
		must(s.EnqueueForWorker(ctx, a))
	}
	return s
}

// idle preloads idle instances and returns the bytes that each takes.
func idle(tb testing.TB, store *memprovider.Store, n int) float64 {
	tb.Helper()
	codec := build("2.0.0").Codec
	before := heapBytes()
	pin := engine.V(3, 0, 0)
	for i := range n {
		data, err := codec.AppendEvent(nil, startedEvent(1))
		if err == nil {
			err = store.Preload(memprovider.PreloadedInstance{Instance: fmt.Sprint("crowd-", i), Orchestration: "T", Version: "1.0.0",
				Executions: []memprovider.PreloadedExecution{{ID: 1, Pin: &pin, Events: []memprovider.PreloadedEvent{{ID: 1, Data: data}}}}})
		}
		sample.OK(tb, err)
	}
	return float64(heapBytes()-before) / float64(n)
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func (s *town) fetch(tb testing.TB, filter *engine.CapabilityFilter, want string) {
	f, err := s.FetchOrchestrationItem(ctx, time.Hour, 0, filter)
	if err != nil || (f != nil) != (want != "") || f != nil && f.Item.Instance != want {
		tb.Fatal(f, err)
	}
	if f != nil {
		sample.OK(tb, s.AbandonOrchestrationItem(ctx, f.LockToken, 0, true))
	}
}

// turn acknowledges a turn of the last instance that sends it a message, and with cancel schedules an activity and cancels
// it.
func (s *town) turn(tb testing.TB, cancel bool) {
	f, err := s.FetchOrchestrationItem(ctx, time.Hour, 0, s.filter)
	if f == nil || err != nil {
		tb.Fatal(f, err)
	}
	ack := engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1,
		OrchestratorItems: []engine.WorkItem{engine.ExternalRaisedItem{Instance: "last", Name: "e"}}}
	if cancel {
		ack.WorkerItems = []engine.WorkItem{engine.ActivityExecuteItem{Instance: "last", ExecutionID: 1, ID: 99, Name: "Act", Tag: "crowd"}}
		ack.CancelledActivities = []engine.ScheduledActivityIdentifier{{Instance: "last", ExecutionID: 1, ActivityID: 99}}
	}
	sample.OK(tb, s.AckOrchestrationItem(ctx, ack))
}

func (s *town) work(tb testing.TB, session *engine.SessionFetchConfig, tag string) {
	w, err := s.FetchWorkItem(ctx, time.Hour, 0, session, engine.TagFilter{Mode: engine.TagTags, Tags: []string{tag}})
	if err != nil || w == nil || w.Item.Target() != "last" {
		tb.Fatal(w, err)
	}
	sample.OK(tb, s.AbandonWorkItem(ctx, w.LockToken, 0, true))
}

// floor is a map and a heap of the same size.
type floor struct {
	byName map[string]*entry
	order  entries
}

type entry struct{ key, at int }

type entries []*entry

func (e entries) Len() int           { return len(e) }
func (e entries) Less(i, j int) bool { return e[i].key < e[j].key }
func (e entries) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].at, e[j].at = i, j
}

func (e *entries) Push(x any) {
	x.(*entry).at = len(*e)
	*e = append(*e, x.(*entry))
}

func (e *entries) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newFloor(n int) *floor {
	f := &floor{byName: make(map[string]*entry, n)}
	for i := range n {
		e := &entry{key: i, at: i}
		f.byName[fmt.Sprint("crowd-", i)] = e
		f.order = append(f.order, e)
	}
	return f
}

// once looks up the first element, removes it and adds it again.
func (f *floor) once() {
	heap.Remove(&f.order, f.byName["crowd-0"].at)
	heap.Push(&f.order, f.byName["crowd-0"])
}

// TestIdleInstanceIsSmall checks that an idle instance takes less than 2 KB.
func TestIdleInstanceIsSmall(t *testing.T) {
	store := memprovider.New(memprovider.Options{})
	bytes := idle(t, store, 20_000)
	if bytes > 2048 {
		t.Errorf("an idle instance takes %.0f bytes, want at most 2048", bytes)
	}
	runtime.KeepAlive(store)
}

// TestCallsDoNotAllocateMoreInACrowd checks that the allocations of a call do not depend on the number of instances.
func TestCallsDoNotAllocateMoreInACrowd(t *testing.T) {
	small, large := newTown(t, 10), newTown(t, 3_000)
	for name, call := range map[string]func(s *town){
		"fetch":           func(s *town) { s.fetch(t, nil, "crowd-0") },
		"filtered fetch":  func(s *town) { s.fetch(t, s.filter, "last") },
		"turn":            func(s *town) { s.turn(t, true) },
		"work":            func(s *town) { s.work(t, nil, "mine") },
		"session work":    func(s *town) { s.work(t, s.owner, "ours") },
		"crowded session": func(s *town) { s.work(t, s.owner, "crowd") },
	} {
		a := testing.AllocsPerRun(200, func() { call(small) })
		b := testing.AllocsPerRun(200, func() { call(large) })
		if b > a+1 {
			t.Errorf("%s: %v allocations among 10 instances, %v among 3000", name, a, b)
		}
	}
}

// TestSessionsLeaveNothing checks that the cleanup of a session removes everything about it, including its work's
// groups.
func TestSessionsLeaveNothing(t *testing.T) {
	const sessions = 5_000
	store := memprovider.New(memprovider.Options{})
	p := handleOf(store, build("2.0.0").Codec, observe.Caller{})
	config := &engine.SessionFetchConfig{OwnerID: "w", LockTimeout: time.Second}
	unclaimed := func(first int) {
		for i := range sessions {
			work := engine.ActivityExecuteItem{Instance: "j", ExecutionID: 1, ID: 1, Name: "Act", SessionID: fmt.Sprint("u", first+i)}
			sample.OK(t, p.EnqueueForWorker(ctx, work))
		}
		if r, err := p.DeleteInstancesAtomic(ctx, []string{"j"}, false); err != nil || r.QueueMessagesDeleted != sessions {
			t.Fatal(r, err)
		}
	}
	round := func(first int) {
		unclaimed(first)
		for i := range sessions {
			work := engine.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 1, Name: "Act", SessionID: fmt.Sprint("s", first+i)}
			sample.OK(t, p.EnqueueForWorker(ctx, work))
			w := sample.Must(p.FetchWorkItem(ctx, time.Second, 0, config, engine.TagFilter{}))(t)
			sample.OK(t, p.AckWorkItem(ctx, w.LockToken, nil))
		}
		store.SetNow(store.Now() + 1001)
		if n, err := p.CleanupOrphanedSessions(ctx, 0); n != sessions || err != nil {
			t.Fatal(n, err)
		}
	}
	round(0)
	before := heapBytes()
	round(sessions)
	if each := float64(heapBytes()-before) / sessions; each > 96 { // two messages and a token
		t.Errorf("a session that is gone leaves %.0f bytes", each)
	}
	runtime.KeepAlive(store)
}
