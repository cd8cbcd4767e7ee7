package replay

import (
	"iter"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
)

func oneActivity(ctx *orch.Context, input string) (string, error) {
	return ctx.ScheduleActivity("charge", input).Await()
}

// chain awaits one activity after another, forever.
func chain(ctx *orch.Context, input string) (string, error) {
	for {
		if _, err := ctx.ScheduleActivity("step", input).Await(); err != nil {
			return "", err
		}
	}
}

// playedHistory plays turns until the history has at least n events. Each activity completes in the turn after the one
// that scheduled it.
func playedHistory(b testing.TB, h orch.Handler, n int) []engine.Event {
	in := benchInput(h)
	for {
		out, err := Turn(in)
		if err != nil || out.Result != ResultContinue {
			b.Fatal(err, out.Result, out.Details.Display())
		}
		in.History = append(in.History, out.Delta...)
		if len(in.History) >= n {
			return in.History[:len(in.History):len(in.History)]
		}
		in.Messages = nil
		for _, w := range out.WorkerItems {
			w := w.(engine.ActivityExecuteItem)
			in.Messages = append(in.Messages, engine.ActivityCompletedItem{Instance: w.Instance, ExecutionID: 1, ID: w.ID, Result: "ok"})
		}
	}
}

func benchInput(h orch.Handler) Input {
	return Input{
		Build: engine.ShippedBuilds()[1], Instance: "order-1", ExecutionID: 1, Handler: h, NowMs: 1000,
		Start: &Start{Name: "Order", Version: "1.0.0", Input: "in"},
	}
}

func benchTurn(b *testing.B, in Input, events int, want Result) {
	b.ReportAllocs()
	for b.Loop() {
		if out, err := Turn(in); err != nil || out.Result != want {
			b.Fatal(err, out.Result, out.Details.Display())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// BenchmarkTurn1000 measures a turn of an orchestration with a history of 1,000 events. As a lower bound, it also
// measures passing as many values to a coroutine one at a time.
func BenchmarkTurn1000(b *testing.B) {
	in := benchInput(chain)
	in.History = playedHistory(b, chain, 1000)
	in.Messages = []engine.WorkItem{engine.ActivityCompletedItem{
		Instance: "order-1", ExecutionID: 1, ID: in.History[len(in.History)-1].EventID, Result: "ok",
	}}
	b.Run("arena", func(b *testing.B) {
		in := in
		in.Arena = NewArena()
		defer in.Arena.Close()
		benchTurn(b, in, len(in.History)+2, ResultContinue)
	})
	b.Run("fresh", func(b *testing.B) { benchTurn(b, in, len(in.History)+2, ResultContinue) })
	b.Run("floor=bare-coroutine", func(b *testing.B) {
		for b.Loop() {
			next, stop := iter.Pull(func(yield func(int) bool) {
				for i := 0; yield(i); i++ {
				}
			})
			for range len(in.History) / 2 { // each activity accounts for two events and one suspension
				next()
			}
			stop()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(in.History)+2), "ns/event")
	})
}

// TestTurnAllocates checks that a turn's allocations do not grow with the number of replayed schedules.
func TestTurnAllocates(t *testing.T) {
	in := benchInput(chain)
	in.History = playedHistory(t, chain, 1000)
	if n := testing.AllocsPerRun(10, func() { mustTurn(t, in) }); n > 60 {
		t.Errorf("a turn over %d events makes %v allocations, want at most 60", len(in.History), n)
	}
}
