package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/oracle"
)

// storeTime stands still while calls run concurrently, so that the only thing that is uncertain is their order.
const storeTime = 1000

// specification is the oracle as a model for porcupine. A concurrent fetch that finds nothing must have a reason.
var specification = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{&oracle.State{}} },
	Step: func(state, input, output any) (next []any) {
		o := oracle.Options{Deny: append([]oracle.Freedom{oracle.F5Contention}, promised...)}
		for _, s := range state.(*oracle.State).Next(o, input.(oracle.Call), output.(oracle.Answer), oracle.At(storeTime)) {
			next = append(next, s)
		}
		return next
	},
	Equal: func(a, b any) bool { return a.(*oracle.State).Equal(b.(*oracle.State)) },
}).ToModel()

// linearizable says whether some order of the calls is allowed that keeps those apart which did not overlap. The
// specification does not know which tokens there were, so that no token comes twice is looked at here.
func linearizable(history []porcupine.Operation) bool {
	given := map[string]bool{}
	for _, op := range history {
		if token := tokenOf(op.Output.(oracle.Answer)); token != "" {
			if given[token] {
				return false
			}
			given[token] = true
		}
	}
	return porcupine.CheckOperations(specification, history)
}

func tokenOf(a oracle.Answer) string {
	switch {
	case a.Item != nil:
		return a.Item.Token
	case a.Work != nil:
		return a.Work.Token
	}
	return ""
}

// told is a history as text: each call with the ticks between which it took effect.
func told(history []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range history {
		entry := oracle.Entry{At: oracle.At(storeTime), Call: op.Input.(oracle.Call), Answer: op.Output.(oracle.Answer)}
		line, err := entry.MarshalJSON()
		if err != nil {
			line = []byte(err.Error())
		}
		fmt.Fprintf(&b, "client %d, %d to %d: %s\n", op.ClientId, op.Call, op.Return, line)
	}
	return b.String()
}

// record is what goroutines did with one store.
type record struct {
	mu      sync.Mutex
	ticks   int64
	history []porcupine.Operation

	turn     *sync.Cond // of what follows
	finished int        // calls
	active   int        // clients
	between  int        // clients that wait in the middle of a call
}

// let lets other clients finish a call, if there are any that can.
func (r *record) let() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.between++
	r.turn.Broadcast()
	for finished := r.finished; r.finished == finished && r.between < r.active; {
		r.turn.Wait()
	}
	r.between--
}

// never is the end of a call whose answer did not come.
const never = 1 << 60

func (r *record) tick() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ticks++
	return r.ticks
}

// do makes a call. A retryable error says that it had no effect, so it is no part of the history.
func (r *record) do(ctx context.Context, id int, p engine.Provider, args oracle.Args, lost bool) oracle.Answer {
	op := porcupine.Operation{ClientId: id, Input: oracle.Call{Args: args}, Call: r.tick()}
	a := oracle.Perform(ctx, p, oracle.Call{Args: args})
	op.Return = r.tick()
	r.mu.Lock()
	r.finished++
	r.mu.Unlock()
	r.turn.Broadcast()
	if lost {
		a, op.Return = oracle.Answer{Lost: true}, never
	}
	if op.Output = a; a.Err == nil || !a.Err.Retryable {
		r.mu.Lock()
		r.history = append(r.history, op)
		r.mu.Unlock()
	}
	return a
}

// client makes calls on its provider, as dispatchers and clients do. Some answers do not reach it, and some calls it
// cancels while they run.
func (r *record) client(ctx context.Context, id int, p engine.Provider, random *rand.Rand) {
	token, work := "", ""
	for i := range 8 {
		in := string(rune('A' + random.IntN(2)))
		lock := []int64{60_000, 60_000, 0}[random.IntN(3)] // a lock of no length has run out at once
		event := uint64(100*id + i + 2)
		var args oracle.Args
		activity := engine.ActivityExecuteItem{Instance: in, ExecutionID: 1, ID: event, Name: "Act"}
		switch n := random.IntN(10); {
		case n == 0:
			args = oracle.EnqueueForWorker{Item: oracle.Item{WorkItem: activity}}
		case n == 1:
			args = oracle.EnqueueForOrchestrator{Item: oracle.Item{WorkItem: engine.StartItem{Instance: in, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}}}
		case n < 5 && token == "":
			args = oracle.FetchOrchestrationItem{LockTimeoutMs: lock}
		case n == 2:
			args = oracle.AbandonOrchestrationItem{Token: token, IgnoreAttempt: random.IntN(2) == 0}
		case n < 5:
			args = oracle.AckOrchestrationItem{
				Token: token, ExecutionID: 1, Metadata: oracle.Metadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0"},
				HistoryDelta: oracle.Events{{EventID: event, ExecutionID: 1, Data: engine.KeyValueSet{Key: "k", Value: fmt.Sprint(event)}}},
				WorkerItems:  oracle.Items{activity},
			}
		case n < 7 && work != "":
			args = oracle.AckWorkItem{Token: work, Completion: oracle.Item{WorkItem: engine.ActivityCompletedItem{Instance: in, ExecutionID: 1, ID: event}}}
		case n < 7:
			args = oracle.FetchWorkItem{LockTimeoutMs: lock, Tags: oracle.Tags{Mode: oracle.TagMode(engine.TagAny)}}
		case n < 8:
			args = oracle.GetKVValue{Instance: in, Key: "k"}
		default:
			args = oracle.GetQueueDepths{}
		}
		call, cancel := context.WithCancel(ctx)
		if random.IntN(8) == 0 {
			go cancel()
		}
		a := r.do(call, id, p, args, random.IntN(8) == 0)
		cancel()
		switch args.(type) {
		case oracle.FetchOrchestrationItem, oracle.AckOrchestrationItem, oracle.AbandonOrchestrationItem:
			if token = ""; a.Item != nil {
				token = a.Item.Token
			}
		case oracle.FetchWorkItem, oracle.AckWorkItem:
			if work = ""; a.Work != nil {
				work = a.Work.Token
			}
		}
	}
}

// together lets four goroutines work on one file, two through each of two providers, as two processes would.
func together(t *testing.T, v variant, seed uint64) []porcupine.Operation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "store.db")
	r := record{active: 4}
	r.turn = sync.NewCond(&r.mu)
	var all sync.WaitGroup
	for node := range 2 {
		p := open(t, file, func() int64 { return storeTime })
		defer shut(t, p)
		for i := range 2 {
			id := 2*node + i
			all.Go(func() {
				r.client(t.Context(), id, v(p, r.let), rand.New(rand.NewPCG(seed, uint64(id))))
				r.mu.Lock()
				r.active--
				r.mu.Unlock()
				r.turn.Broadcast()
			})
		}
	}
	all.Wait()
	return r.history
}

func TestConcurrentHistoriesAreLinearizable(t *testing.T) {
	calls := 0
	for seed := range uint64(30) {
		history := together(t, right, seed)
		if calls += len(history); !linearizable(history) {
			t.Fatalf("run %d: no order of these calls is allowed:\n%s", seed, told(history))
		}
	}
	if calls < 30*4*8/2 {
		t.Errorf("%d calls: most met contention", calls)
	}
}

// TestManyOpen opens one new file at once, as nodes that start together do.
func TestManyOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			p, err := Open(t.Context(), file, everything, nil)
			if err != nil {
				t.Error(err)
				return
			}
			shut(t, p)
		})
	}
	all.Wait()
}
