package machine

import (
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
)

// BenchmarkTurn measures one batch from its delivery to the next fetch. The batch is a first turn that ends
// immediately, and its ack is included. BenchmarkTurnAlone is a lower bound.
func BenchmarkTurn(b *testing.B) {
	options := node.DefaultOptions()
	options.OrchestrationConcurrency, options.WorkerConcurrency = 1, 0
	n, err := New(Config{Name: "n", Build: buildNamed(b, "1.5.0"), Registry: testRegistry(b), Options: options})
	if err != nil {
		b.Fatal(err)
	}
	f := &engine.FetchedOrchestration{Item: batchFixture(b, "new-latest"), LockToken: "t", AttemptCount: 1}
	n.Step(&Start{NowMs: 1})
	b.ReportAllocs()
	for b.Loop() {
		n.Step(&Answer{NowMs: 1, Call: n.calls, Orchestration: f})
		n.Step(&Finished{NowMs: 1, Job: n.jobs})
		n.Step(&Answer{NowMs: 1, Call: n.calls})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// BenchmarkTurnAlone measures the same turn computed without a node.
func BenchmarkTurnAlone(b *testing.B) {
	handler, _ := testRegistry(b).ResolveStart("Order", "")
	in := replay.Input{
		Build: buildNamed(b, "1.5.0"), Instance: "a", ExecutionID: 1, Messages: batchFixture(b, "new-latest").Messages,
		Handler: handler.Handler, NowMs: 1, Start: &replay.Start{Name: "Order", Version: "2.0.0", Input: "5"},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := replay.Turn(in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// BenchmarkPoll measures a fetch that finds nothing, and the timer that follows.
func BenchmarkPoll(b *testing.B) {
	options := node.DefaultOptions()
	options.OrchestrationConcurrency, options.WorkerConcurrency = 1, 0
	n, err := New(Config{Name: "n", Build: buildNamed(b, "1.5.0"), Registry: testRegistry(b), Options: options})
	if err != nil {
		b.Fatal(err)
	}
	n.Step(&Start{NowMs: 1})
	b.ReportAllocs()
	for b.Loop() {
		n.Step(&Answer{NowMs: 1, Call: n.calls})
		n.Step(&Wake{NowMs: 1, Timer: n.timers})
	}
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
