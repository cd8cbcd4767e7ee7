package command_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// quarrel serves a provider that works correctly as long as calls do not overlap. Its argument selects what it does
// wrong when they do.
func quarrel() {
	perform, ok := map[string]func(*quarrelling, context.Context, call.Call) call.Answer{
		"none": (*quarrelling).alone, "lost-claim": (*quarrelling).lostClaim, "dirty-read": (*quarrelling).dirtyRead, "deadlock": (*quarrelling).deadlock,
		"partial": (*quarrelling).partial, "wrong-alone": (*quarrelling).wrongAlone, "unmanaged": (*quarrelling).alone,
	}[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "quarrel: nothing is wrong in this way:", os.Args[1])
		os.Exit(2)
	}
	server := &wire.Server{Overlapping: true, New: func() (*wire.Store, error) {
		store := memprovider.New(memprovider.Options{StartMs: 1000})
		codec := engine.NewJSONCodec("quarrel", engine.Kinds2x(), engine.WorkItemKinds2x())
		q := &quarrelling{inner: store.Handle(codec, observe.Caller{}), half: map[string][]engine.Event{}, instances: map[string]string{}}
		provider := call.Through("quarrel", "1", os.Args[1] != "unmanaged", func(ctx context.Context, c call.Call) call.Answer { return perform(q, ctx, c) })
		return &wire.Store{Provider: provider, NowMs: store.Now, SetClock: store.SetNow}, nil
	}}
	if err := server.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// window is how long a wrong provider pauses in the middle of a call.
const window = 2 * time.Millisecond

// quarrelling is a store together with the state needed for its mistakes.
type quarrelling struct {
	mu    sync.Mutex // protects the fields below
	inner engine.Provider
	// looking holds the fetches that other fetches join.
	looking [2]*joined
	// half holds the histories of half-finished acks, keyed by instance. instances maps tokens to instances.
	half      map[string][]engine.Event
	instances map[string]string
	// Two locks that not all calls acquire in the same order.
	turns, works sync.Mutex
}

type joined struct {
	over   chan struct{}
	answer call.Answer
	more   int
}

func (q *quarrelling) alone(ctx context.Context, c call.Call) call.Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := call.Perform(ctx, q.inner, c)
	if f := a.Orchestration; f != nil {
		q.instances[f.LockToken] = f.Item.Instance
	}
	return a
}

// partial is a provider without acks.
func (q *quarrelling) partial(ctx context.Context, c call.Call) call.Answer {
	if _, ack := c.(call.AckOrchestrationItem); ack {
		return call.Answer{Err: engine.ErrUnsupported}
	}
	return q.alone(ctx, c)
}

func (q *quarrelling) wrongAlone(context.Context, call.Call) call.Answer {
	return call.Answer{Err: &engine.ProviderError{Message: "no"}}
}

// lostClaim looks for free work first and locks it later, so callers that look at the same time take the same work.
func (q *quarrelling) lostClaim(ctx context.Context, c call.Call) call.Answer {
	queue := 0
	switch c.(type) {
	case call.FetchOrchestrationItem:
	case call.FetchWorkItem:
		queue = 1
	default:
		return q.alone(ctx, c)
	}
	q.mu.Lock()
	if j := q.looking[queue]; j != nil {
		j.more++
		suffix := strings.Repeat("'", j.more)
		q.mu.Unlock()
		<-j.over
		return otherToken(j.answer, suffix)
	}
	j := &joined{over: make(chan struct{})}
	q.looking[queue] = j
	q.mu.Unlock()
	<-time.After(window)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looking[queue] = nil
	j.answer = call.Perform(ctx, q.inner, c)
	close(j.over)
	return j.answer
}

func otherToken(a call.Answer, suffix string) call.Answer {
	if f := a.Orchestration; f != nil {
		f := *f
		f.LockToken += suffix
		a.Orchestration = &f
	}
	if f := a.Work; f != nil {
		f := *f
		f.LockToken += suffix
		a.Work = &f
	}
	return a
}

// dirtyRead writes an ack's history before the rest of the ack.
func (q *quarrelling) dirtyRead(ctx context.Context, c call.Call) call.Answer {
	switch c := c.(type) {
	case call.AckOrchestrationItem:
		q.mu.Lock()
		instance := q.instances[c.LockToken]
		q.half[instance] = c.HistoryDelta
		q.mu.Unlock()
		<-time.After(window)
		a := q.alone(ctx, c)
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.half, instance)
		return a
	case call.Read:
		a := q.alone(ctx, c)
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, e := range q.half[c.Instance] {
			if len(a.Events) == 0 || a.Events[len(a.Events)-1].EventID < e.EventID {
				a.Events = append(a.Events, e)
			}
		}
		return a
	}
	return q.alone(ctx, c)
}

// deadlock acquires the locks of the two queues in one order for turns and in the opposite order for activities.
func (q *quarrelling) deadlock(ctx context.Context, c call.Call) call.Answer {
	first, second := &q.turns, &q.works
	switch c.(type) {
	case call.AckOrchestrationItem:
	case call.AckWorkItem:
		first, second = second, first
	default:
		return q.alone(ctx, c)
	}
	first.Lock()
	defer first.Unlock()
	<-time.After(window)
	second.Lock()
	defer second.Unlock()
	return q.alone(ctx, c)
}
