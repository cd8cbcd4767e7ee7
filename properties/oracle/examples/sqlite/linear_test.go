package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/calllog"
)

// storeTime stands still while calls run concurrently, so that the only thing that is uncertain is their order.
const storeTime = 1000

// specification is the oracle as a model for porcupine. A concurrent fetch that finds nothing must have a reason.
var specification = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{&oracle.State{}} },
	Step: func(state, input, output any) (next []any) {
		o := oracle.Options{Deny: append([]oracle.Freedom{"F5"}, promised...)}
		e := output.(oracle.Exchange)
		e.Call = input.(call.Call)
		for _, s := range state.(*oracle.State).Next(o, e) {
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
		if token := oracle.Token(op.Output.(oracle.Exchange).Answer); token != "" {
			if given[token] {
				return false
			}
			given[token] = true
		}
	}
	return porcupine.CheckOperations(specification, history)
}

// told is a history as text: each call with the ticks between which it took effect.
func told(history []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range history {
		entry := calllog.Entry{Exchange: op.Output.(oracle.Exchange)}
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
func (r *record) do(ctx context.Context, id int, p engine.Provider, c call.Call, lost bool) call.Answer {
	op := porcupine.Operation{ClientId: id, Input: c, Call: r.tick()}
	a := call.Perform(ctx, p, c)
	op.Return = r.tick()
	r.mu.Lock()
	r.finished++
	r.mu.Unlock()
	r.turn.Broadcast()
	if lost {
		a, op.Return = call.Answer{}, never
	}
	op.Output = oracle.Exchange{Call: c, Answer: a, Lost: lost, At: oracle.At(storeTime)}
	if !engine.IsRetryable(a.Err) {
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
		lock := []time.Duration{time.Minute, time.Minute, 0}[random.IntN(3)] // a lock of no length has run out at once
		event := uint64(100*id + i + 2)
		var c call.Call
		activity := engine.ActivityExecuteItem{Instance: in, ExecutionID: 1, ID: event, Name: "Act"}
		switch n := random.IntN(10); {
		case n == 0:
			c = call.EnqueueForWorker{Item: activity}
		case n == 1:
			c = call.EnqueueForOrchestrator{Item: engine.StartItem{Instance: in, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}}
		case n < 5 && token == "":
			c = call.FetchOrchestrationItem{LockTimeout: lock}
		case n == 2:
			c = call.AbandonOrchestrationItem{LockToken: token, IgnoreAttempt: random.IntN(2) == 0}
		case n < 5:
			c = call.AckOrchestrationItem{
				LockToken: token, ExecutionID: 1, Metadata: engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0"},
				HistoryDelta: []engine.Event{{EventID: event, ExecutionID: 1, Data: eventdata.KeyValueSet{Key: "k", Value: fmt.Sprint(event)}}},
				WorkerItems:  []engine.WorkItem{activity},
			}
		case n < 7 && work != "":
			c = call.AckWorkItem{LockToken: work, Completion: engine.ActivityCompletedItem{Instance: in, ExecutionID: 1, ID: event}}
		case n < 7:
			c = call.FetchWorkItem{LockTimeout: lock, Tags: engine.TagFilter{Mode: engine.TagAny}}
		case n < 8:
			c = call.GetKVValue{Instance: in, Key: "k"}
		default:
			c = call.GetQueueDepths{}
		}
		inner, cancel := context.WithCancel(ctx)
		if random.IntN(8) == 0 {
			go cancel()
		}
		a := r.do(inner, id, p, c, random.IntN(8) == 0)
		cancel()
		switch c.(type) {
		case call.FetchOrchestrationItem, call.AckOrchestrationItem, call.AbandonOrchestrationItem:
			if token = ""; a.Orchestration != nil {
				token = a.Orchestration.LockToken
			}
		case call.FetchWorkItem, call.AckWorkItem:
			if work = ""; a.Work != nil {
				work = a.Work.LockToken
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
