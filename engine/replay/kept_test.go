package replay

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestKeptExecutionsReplayAlike plays random programs twice, turn by turn: one keeps the execution and loses it now and
// then, the other replays the history in every turn. Their outputs must be equal. Some turns are not committed, and the
// next turn gets another batch, as after a lost lock.
func TestKeptExecutionsReplayAlike(t *testing.T) {
	resumed, refused, ends := 0, 0, map[string]int{}
	sets := [][]*engine.Build{standardBuilds(), thresholdBuilds()}
	for _, name := range []string{"0.1.26", "0.1.32"} {
		contract := sample.Must(engine.ContractOf(name))(t)
		var as []*engine.Build
		for _, b := range standardBuilds() {
			as = append(as, contract.Build(b))
		}
		sets = append(sets, as)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := program{steps: drawSteps(t, 2), end: rapid.SampledFrom([]string{"return", "fail", "panic", "continue"}).Draw(t, "end")}
		arena := NewArena()
		defer arena.Close()
		w := &world{in: Input{
			Build: rapid.SampledFrom(rapid.SampledFrom(sets).Draw(t, "builds")).Draw(t, "build"), Instance: "i", ExecutionID: 1, Handler: p.handler, NowMs: 1000,
			KVSnapshot: []engine.KVEntry{{Key: "k1", Value: "old", LastUpdatedAtMs: 500}},
			Start:      &Start{Name: "P", Version: "1.0.0", Parent: &engine.ParentLink{Instance: "q", ExecutionID: 2, EventID: 3}},
		}}
		var kept *Kept
		defer func() { kept.Drop() }()
		for range 40 {
			w.in.Messages = w.batch(t)
			want := sample.Must(Turn(w.in))(t)
			in := w.in
			in.Keep, in.Kept, in.Arena = true, kept, arena
			in.DoubleCheck = rapid.Bool().Draw(t, "double-check")
			got, err := Turn(in)
			if err != nil || got.Nondeterministic != "" {
				t.Fatal(err, got.Nondeterministic)
			}
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Output{}, "Kept", "Resumed", "Polls", "Traces")); d != "" {
				t.Fatalf("resumed %v (-replayed +kept):\n%s\nhistory: %s", got.Resumed, d, historyText(append(w.in.History, got.Delta...)))
			}
			// A replay logs again what the code logged after the last event that it waited for (docs/contract/runtime.md#r7.5).
			if n := len(want.Traces) - len(got.Traces); n < 0 || n > 0 && !got.Resumed || !slices.Equal(want.Traces[n:], got.Traces) {
				t.Fatalf("traces %q, replayed %q", got.Traces, want.Traces)
			}
			if got.Resumed {
				resumed++
			}
			if kept = got.Kept; rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
				kept.Drop()
				kept = nil
			}
			w.in.NowMs += 1000
			if rapid.IntRange(0, 9).Draw(t, "refused") == 0 {
				refused++
				continue
			}
			w.in.History = append(w.in.History[:len(w.in.History):len(w.in.History)], want.Delta...)
			if want.Result != ResultContinue {
				ends[want.Result.String()]++
				if kept != nil {
					t.Fatal("an ended execution is kept")
				}
				return
			}
			w.take(&want)
		}
	})
	if !testing.Short() && (resumed < 100 || refused < 10 || ends["Completed"] == 0 || ends["Failed"] == 0 || ends["ContinueAsNew"] == 0 || ends["Cancelled"] == 0) {
		t.Errorf("%d turns resumed, %d refused, ends %v", resumed, refused, ends)
	}
}

// TestKeptCodeEnds drops kept executions: their deferred calls run, none of their Contexts work afterwards, and the
// next turn replays.
func TestKeptCodeEnds(t *testing.T) {
	arena, ended := NewArena(), 0
	defer arena.Close()
	var escaped *orch.Context
	in := benchInput(func(ctx *orch.Context, _ string) (string, error) {
		escaped = ctx
		defer func() { ended++ }()
		text, err := ctx.ScheduleActivity("a", "").Await()
		return text, err
	})
	in.Keep, in.Arena = true, arena
	out, err := Turn(in)
	if err != nil || out.Kept == nil || ended != 0 {
		t.Fatal(out, err, ended)
	}
	func() {
		defer func() {
			if got := fmt.Sprint(recover()); got != "<nil>" && got != "orch: a Context was used outside its turn" {
				t.Error(got)
			}
		}()
		escaped.Trace("between two turns")
	}()
	out.Kept.Drop()
	out.Kept.Drop()
	if ended != 1 {
		t.Errorf("the code has ended %d times", ended)
	}
	in.History, in.Start, in.Kept = out.Delta, nil, out.Kept
	if again, err := Turn(in); err != nil || again.Resumed {
		t.Error(again, err)
	} else {
		again.Kept.Drop()
	}
}
