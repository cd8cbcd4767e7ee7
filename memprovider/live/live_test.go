// What the store does for those who wait for work is in properties/conformance, whose TestLive puts every case to it.
// Here is what no provider has to do: how a call ends whose context has ended or whose store is closed.
package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
)

// nothing is a sink that tells when a fetch has found nothing. The store is still locked then, so whoever waits for that
// makes the next call when the fetch waits already.
type nothing chan struct{}

func (n nothing) Observe(o *observe.Observation) {
	if o.Kind == observe.CallEnd && o.Outcome == observe.OutcomeNothing {
		n <- struct{}{}
	}
}

// whileWaiting opens a store, calls end while a fetch waits there with ctx, and returns the error of the fetch.
func whileWaiting(ctx context.Context, end func(*live.Store)) (engine.Provider, error) {
	looked := make(nothing)
	store := live.Open(memprovider.Options{Recheck: true, Sink: looked})
	builds := engine.ShippedBuilds()
	p := store.Handle(builds[len(builds)-1].Codec, observe.Caller{})
	fetched := make(chan error)
	go func() {
		_, err := p.FetchOrchestrationItem(ctx, time.Minute, time.Minute, nil)
		fetched <- err
	}()
	<-looked
	end(store)
	return p, <-fetched
}

// calls makes a call of each kind with ctx and returns their errors.
func calls(ctx context.Context, p engine.Provider) []error {
	_, fetched := p.FetchWorkItem(ctx, time.Minute, 0, nil, engine.TagFilter{})
	_, listed := p.Admin().ListInstances(ctx)
	item := engine.StartItem{Instance: "a", Orchestration: "Order", ExecutionID: 1}
	return []error{p.EnqueueForOrchestrator(ctx, item, 0), fetched, listed}
}

// TestEndedContext checks that every call fails for now and does nothing, including waiting ones.
func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, waiting := whileWaiting(ctx, func(*live.Store) { cancel() })
	for _, err := range append(calls(ctx, p), waiting) {
		if !engine.IsRetryable(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("with an ended context: %v", err)
		}
	}
	if n, err := p.Admin().GetQueueDepths(t.Context()); err != nil || *n != (engine.QueueDepths{}) {
		t.Errorf("it did something: %+v, %v", n, err)
	}
}

// TestClose checks that every call fails for good, including waiting ones.
func TestClose(t *testing.T) {
	p, waiting := whileWaiting(t.Context(), func(s *live.Store) {
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	for _, err := range append(calls(t.Context(), p), waiting) {
		if !errors.Is(err, engine.ErrPermanent) || !strings.Contains(err.Error(), "closed") {
			t.Errorf("after Close: %v", err)
		}
	}
}
