package live_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
)

// long is a poll timeout that no passing test waits for.
const long = 30 * time.Second

func open(t testing.TB, sink observe.Sink) *live.Store {
	s := live.Open(memprovider.Options{Recheck: true, Sink: sink})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func handle(s *live.Store) engine.Provider {
	builds := engine.ShippedBuilds()
	return s.Handle(builds[len(builds)-1].Codec, observe.Caller{})
}

func start(instance string) engine.WorkItem {
	return engine.StartItem{Instance: instance, Orchestration: "Order", ExecutionID: 1}
}

func activity(id uint64, session string) engine.WorkItem {
	return engine.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id, Name: "Act", SessionID: session}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is the result of a fetch in the background: the instance or activity with its count, or an error.
type answer struct {
	found string
	count uint32
	err   error
}

// watch is a store with the sink that tells when a fetch has found nothing. The store is still locked then, so whoever
// waits for that makes the next call when the fetch waits already.
type watch struct {
	*live.Store
	nothing chan struct{}
}

func (w *watch) Observe(o *observe.Observation) {
	if o.Kind == observe.CallEnd && o.Outcome == observe.OutcomeNothing {
		select {
		case w.nothing <- struct{}{}:
		default:
		}
	}
}

func openWatched(t testing.TB) *watch {
	w := &watch{nothing: make(chan struct{}, 1)}
	w.Store = open(t, w)
	return w
}

// inBackground starts a fetch that finds nothing, and returns once it waits.
func (w *watch) inBackground(fetch func() answer) <-chan answer {
	answers := make(chan answer, 1)
	go func() { answers <- fetch() }()
	<-w.nothing
	return answers
}

func orchestration(ctx context.Context, p engine.Provider, lock, wait time.Duration) answer {
	f, err := p.FetchOrchestrationItem(ctx, lock, wait, nil)
	if f == nil {
		return answer{err: err}
	}
	return answer{f.Item.Instance, f.AttemptCount, err}
}

func work(ctx context.Context, p engine.Provider, lock, wait time.Duration, owner string) answer {
	config := &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: lock}
	if owner == "" {
		config = nil
	}
	f, err := p.FetchWorkItem(ctx, lock, wait, config, engine.TagFilter{})
	if f == nil {
		return answer{err: err}
	}
	return answer{fmt.Sprint(f.Item.(engine.ActivityExecuteItem).ID), f.AttemptCount, err}
}

// TestWakesForNewWork checks that a waiting fetch returns when work arrives (BP-151).
func TestWakesForNewWork(t *testing.T) {
	s := openWatched(t)
	p, ctx := handle(s.Store), t.Context()
	turn := s.inBackground(func() answer { return orchestration(ctx, p, time.Minute, long) })
	must(t, p.EnqueueForOrchestrator(ctx, start("a"), 0))
	if got := <-turn; got.found != "a" || got.err != nil {
		t.Errorf("the orchestration fetch got %+v", got)
	}
	act := s.inBackground(func() answer { return work(ctx, p, time.Minute, long, "w") })
	must(t, p.EnqueueForWorker(ctx, activity(7, "session")))
	if got := <-act; got.found != "7" || got.err != nil {
		t.Errorf("the work fetch got %+v", got)
	}
}

// TestWakesForTime checks that a waiting fetch returns when time makes something eligible, and not before (BP-152).
func TestWakesForTime(t *testing.T) {
	const soon = 30 * time.Millisecond
	for _, c := range []struct {
		name    string
		prepare func(p engine.Provider, ctx context.Context) error
		fetch   func(p engine.Provider, ctx context.Context) answer
		want    answer
	}{
		{"delayed message",
			func(p engine.Provider, ctx context.Context) error {
				return p.EnqueueForOrchestrator(ctx, start("a"), soon)
			},
			func(p engine.Provider, ctx context.Context) answer { return orchestration(ctx, p, time.Minute, long) },
			answer{found: "a", count: 1}},
		{"instance lock",
			func(p engine.Provider, ctx context.Context) error {
				return errors.Join(p.EnqueueForOrchestrator(ctx, start("a"), 0), orchestration(ctx, p, soon, 0).err)
			},
			func(p engine.Provider, ctx context.Context) answer { return orchestration(ctx, p, time.Minute, long) },
			answer{found: "a", count: 2}},
		{"activity lock",
			func(p engine.Provider, ctx context.Context) error {
				return errors.Join(p.EnqueueForWorker(ctx, activity(1, "")), work(ctx, p, soon, 0, "").err)
			},
			func(p engine.Provider, ctx context.Context) answer { return work(ctx, p, time.Minute, long, "") },
			answer{found: "1", count: 2}},
		{"session",
			func(p engine.Provider, ctx context.Context) error {
				return errors.Join(p.EnqueueForWorker(ctx, activity(1, "s")), p.EnqueueForWorker(ctx, activity(2, "s")),
					work(ctx, p, soon, 0, "other").err)
			},
			func(p engine.Provider, ctx context.Context) answer { return work(ctx, p, time.Minute, long, "w") },
			answer{found: "1", count: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, nil)
			p, ctx := handle(s), t.Context()
			began := time.Now()
			must(t, c.prepare(p, ctx))
			got := c.fetch(p, ctx)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if waited := time.Since(began); waited < soon-time.Millisecond { // the store counts whole milliseconds
				t.Errorf("answered after %v, due after %v", waited, soon)
			}
		})
	}
}

// TestPollsToTheEnd checks that a fetch from an empty store returns nothing, not before the timeout (LP-02, LP-05), and
// at once without one.
func TestPollsToTheEnd(t *testing.T) {
	s := open(t, nil)
	p, ctx := handle(s), t.Context()
	const wait = 20 * time.Millisecond
	for name, fetch := range map[string]func(time.Duration) answer{
		"orchestration": func(d time.Duration) answer { return orchestration(ctx, p, time.Minute, d) },
		"work":          func(d time.Duration) answer { return work(ctx, p, time.Minute, d, "") },
	} {
		began := time.Now()
		if got := fetch(wait); got != (answer{}) || time.Since(began) < wait {
			t.Errorf("%s: got %+v after %v", name, got, time.Since(began))
		}
		if got := fetch(0); got != (answer{}) {
			t.Errorf("%s without a timeout: got %+v", name, got)
		}
	}
}

// TestCancelledWaitHoldsNothing checks that a cancelled fetch returns a retryable error, and leaves later work to others
// (BP-154).
func TestCancelledWaitHoldsNothing(t *testing.T) {
	s := openWatched(t)
	p := handle(s.Store)
	ctx, cancel := context.WithCancel(t.Context())
	turn := s.inBackground(func() answer { return orchestration(ctx, p, time.Minute, long) })
	cancel()
	if got := <-turn; !engine.IsRetryable(got.err) || !errors.Is(got.err, context.Canceled) || got.found != "" {
		t.Errorf("the waiter got %+v", got)
	}
	if err := p.EnqueueForWorker(ctx, activity(1, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with an ended context: %v", err)
	}
	if n, err := p.Admin().GetQueueDepths(t.Context()); err != nil || n.WorkerQueue != 0 {
		t.Errorf("it did something: %+v, %v", n, err)
	}
	must(t, p.EnqueueForOrchestrator(t.Context(), start("a"), 0))
	if got := orchestration(t.Context(), p, time.Minute, 0); got.found != "a" || got.count != 1 {
		t.Errorf("the next fetch got %+v", got)
	}
}

// TestClose checks that every call fails permanently, including waiting ones.
func TestClose(t *testing.T) {
	s := openWatched(t)
	p, ctx := handle(s.Store), t.Context()
	turn := s.inBackground(func() answer { return orchestration(ctx, p, time.Minute, long) })
	must(t, s.Close())
	must(t, s.Close())
	isClosed := func(err error) bool {
		return errors.Is(err, engine.ErrPermanent) && strings.Contains(err.Error(), "closed")
	}
	if got := <-turn; !isClosed(got.err) {
		t.Errorf("the waiter got %+v", got)
	}
	_, listed := p.Admin().ListInstances(ctx)
	for _, err := range []error{p.EnqueueForOrchestrator(ctx, start("a"), 0), work(ctx, p, 0, 0, "").err, listed} {
		if !isClosed(err) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// TestTwoWaitersOneItem checks that one of two waiting fetches gets the item (BP-156).
func TestTwoWaitersOneItem(t *testing.T) {
	s := open(t, nil)
	p, ctx := handle(s), t.Context()
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer)
	for range 2 {
		go func() { answers <- orchestration(ctx, p, time.Minute, long) }()
	}
	must(t, p.EnqueueForOrchestrator(ctx, start("a"), 0))
	if got := <-answers; got.found != "a" || got.count != 1 {
		t.Errorf("the first got %+v", got)
	}
	cancel()
	if got := <-answers; got.found != "" {
		t.Errorf("the second got %+v", got)
	}
}

// TestNothingIsLostOrDoubled: producers, orchestrators and workers at once; every message is in one acknowledged batch, in
// its producer's order, every activity is run by one, and tokens are unique (BP-76, BP-149, BP-150).
func TestNothingIsLostOrDoubled(t *testing.T) {
	const producers, messages, instances, consumers = 8, 50, 10, 4
	s := open(t, nil)
	p := handle(s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var tokens, seen, ran sync.Map
	var left atomic.Int64
	left.Store(2 * producers * messages)
	done := func(n int) {
		if left.Add(int64(-n)) == 0 {
			cancel()
		}
	}
	var all sync.WaitGroup
	for i := range producers {
		all.Go(func() {
			for m := range messages {
				item := engine.ExternalRaisedItem{Instance: fmt.Sprint("i", m%instances), Name: fmt.Sprint(i), Data: fmt.Sprint(m)}
				must(t, p.EnqueueForOrchestrator(t.Context(), item, 0))
			}
		})
	}
	for i := range instances {
		must(t, p.EnqueueForOrchestrator(ctx, start(fmt.Sprint("i", i)), 0))
	}
	once := func(m *sync.Map, key any) {
		if _, twice := m.LoadOrStore(key, true); twice {
			t.Errorf("%v came twice", key)
		}
	}
	for range consumers {
		all.Go(func() {
			for {
				f, err := p.FetchOrchestrationItem(ctx, time.Minute, long, nil)
				if ctx.Err() != nil {
					return
				}
				must(t, err)
				once(&tokens, f.LockToken)
				ack := engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1,
					Metadata: engine.ExecutionMetadata{OrchestrationName: "Order", OrchestrationVersion: "1.0.0"}}
				events, last := 0, map[string]int{}
				for _, m := range f.Item.Messages {
					if e, ok := m.(engine.ExternalRaisedItem); ok {
						once(&seen, e.Name+"/"+e.Data)
						events++
						n, _ := strconv.Atoi(e.Data)
						if n < last[e.Name] {
							t.Errorf("producer %s: %d after %d", e.Name, n, last[e.Name])
						}
						last[e.Name] = n
						ack.WorkerItems = append(ack.WorkerItems, engine.ActivityExecuteItem{Instance: f.Item.Instance, ExecutionID: 1,
							ID: uint64(len(ack.WorkerItems) + 1), Name: e.Name + "/" + e.Data, SessionID: e.Name})
					}
				}
				must(t, p.AckOrchestrationItem(t.Context(), ack))
				done(events)
			}
		})
	}
	for i := range consumers {
		all.Go(func() {
			config := &engine.SessionFetchConfig{OwnerID: fmt.Sprint("w", i/2), LockTimeout: 20 * time.Millisecond}
			for {
				f, err := p.FetchWorkItem(ctx, time.Minute, long, config, engine.TagFilter{})
				if ctx.Err() != nil {
					return
				}
				must(t, err)
				once(&tokens, f.LockToken)
				once(&ran, f.Item.(engine.ActivityExecuteItem).Name)
				must(t, p.AckWorkItem(t.Context(), f.LockToken, nil))
				done(1)
			}
		})
	}
	all.Wait()
	depths, err := p.Admin().GetQueueDepths(t.Context())
	if err != nil || *depths != (engine.QueueDepths{}) {
		t.Errorf("left: %+v, %v", depths, err)
	}
}
