package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// chain awaits activities one after another, for ever.
func chain(ctx *orch.Context, input string) (string, error) {
	for {
		if _, err := ctx.ScheduleActivity("Step", input).Await(); err != nil {
			return "", err
		}
	}
}

// fan awaits n activities at once.
func fan(n int) orch.Handler {
	return func(ctx *orch.Context, input string) (string, error) {
		futures := make([]*orch.Future, n)
		for i := range futures {
			futures[i] = ctx.ScheduleActivity("Step", input)
		}
		orch.Join(futures...)
		return "done", nil
	}
}

// storedTurn is a turn that waits in a store: the history of an instance, and the completions that are its batch.
type storedTurn struct {
	handler  orch.Handler
	history  []engine.Event
	messages []engine.WorkItem
}

// afterTurns plays turns until the history has this many events, and leaves the completions of the last one unread.
func afterTurns(b *testing.B, h orch.Handler, events int) *storedTurn {
	s := &storedTurn{handler: h}
	in := replay.Input{
		Build: engine.ShippedBuilds()[1], Instance: "order-1", ExecutionID: 1, Handler: h, NowMs: 1000,
		Start: &replay.Start{Name: "Order", Version: "1.0.0", Input: "in"},
	}
	for {
		out, err := replay.Turn(in)
		if err != nil || out.Result != replay.ResultContinue {
			b.Fatal(err, out.Result)
		}
		in.History, in.Messages, in.Start = append(in.History, out.Delta...), nil, nil
		for _, w := range out.WorkerItems {
			a := w.(engine.ActivityExecuteItem)
			in.Messages = append(in.Messages, engine.ActivityCompletedItem{Instance: a.Instance, ExecutionID: 1, ID: a.ID, Result: "ok"})
		}
		if len(in.History) >= events {
			s.history, s.messages = in.History, in.Messages
			return s
		}
	}
}

// store is a fresh store with the turn in it, and the handle of a node that has decoded nothing yet.
func (s *storedTurn) store(b *testing.B, build *engine.Build) engine.Provider {
	store := memprovider.New(memprovider.Options{StartMs: 2000})
	ex := memprovider.PreloadedExecution{ID: 1, Pin: &build.Version}
	for _, e := range s.history {
		data := sample.Must(build.Codec.AppendEvent(nil, e))(b)
		ex.Events = append(ex.Events, memprovider.PreloadedEvent{ID: e.EventID, Kind: e.Kind(), Data: data})
	}
	sample.OK(b, store.Preload(memprovider.PreloadedInstance{Instance: "order-1", Orchestration: "Order", Version: "1.0.0", Executions: []memprovider.PreloadedExecution{ex}}))
	p := store.Handle(build.Codec, observe.Caller{Node: 1, Incarnation: 1})
	for _, m := range s.messages {
		sample.OK(b, p.EnqueueForOrchestrator(context.Background(), m, 0))
	}
	return p
}

// shares are the parts of the time of a turn.
type shares struct{ decode, replay, provider time.Duration }

// turn fetches the batch twice, first with a history that is not decoded yet, computes the turn and commits it. What the
// first fetch takes longer is decoding; the second and the ack are the provider.
func (s *storedTurn) turn(b *testing.B, build *engine.Build, p engine.Provider, sum *shares) {
	ctx := context.Background()
	var got *engine.FetchedOrchestration
	fetch := func() (took time.Duration) {
		began := b.Elapsed()
		var err error
		if got, err = p.FetchOrchestrationItem(ctx, time.Minute, 0, nil); err != nil || got == nil {
			b.Fatal(got, err)
		}
		return b.Elapsed() - began
	}
	cold := fetch()
	sample.OK(b, p.AbandonOrchestrationItem(ctx, got.LockToken, 0, true))
	hot := fetch()
	began := b.Elapsed()
	out := sample.Must(replay.Turn(replay.Input{
		Build: build, Instance: "order-1", ExecutionID: 1, Handler: s.handler, NowMs: 2000, History: got.Item.History, Messages: got.Item.Messages,
	}))(b)
	computed := b.Elapsed()
	sample.OK(b, p.AckOrchestrationItem(ctx, engine.OrchestrationAck{
		LockToken: got.LockToken, ExecutionID: 1, HistoryDelta: out.Delta, WorkerItems: out.WorkerItems,
		OrchestratorItems: out.OrchestratorItems, Metadata: out.Metadata, CancelledActivities: out.Cancelled,
	}))
	sum.decode += cold - hot
	sum.replay += computed - began
	sum.provider += hot + b.Elapsed() - computed
}

// BenchmarkTurnShares is a turn from the store and back, by a node that sees the history for the first time: over histories
// and fan-outs of growing size, with the shares of decoding, replay and provider. Linear is a constant ns/event.
func BenchmarkTurnShares(b *testing.B) {
	build := engine.ShippedBuilds()[1]
	run := func(name string, s *storedTurn, events int) {
		b.Run(name, func(b *testing.B) {
			var sum shares
			for range b.N {
				b.StopTimer()
				p := s.store(b, build)
				b.StartTimer()
				s.turn(b, build, p, &sum)
			}
			total := sum.decode + sum.replay + sum.provider
			percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(total) }
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N)/float64(events), "ns/event")
			b.ReportMetric(percent(sum.decode), "decode-%")
			b.ReportMetric(percent(sum.replay), "replay-%")
			b.ReportMetric(percent(sum.provider), "provider-%")
		})
	}
	for _, n := range []int{10, 100, 1000, 10_000} {
		run(fmt.Sprintf("history=%d", n), afterTurns(b, chain, n), n+2)
	}
	for _, n := range []int{1, 10, 100, 1000} {
		run(fmt.Sprintf("fanout=%d", n), afterTurns(b, fan(n), n+1), 2*n+2)
	}
}
