package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/storerules"
	"github.com/durosim/durosim/memprovider"
)

// linearModel is the specification as a model for porcupine. Its states are those of a store; its histories must not
// contain a token twice, which linearizable says before.
func linearModel(o Options) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{&State{}} },
		Step: func(state, input, output any) (next []any) {
			e := input.(Exchange)
			answered := output.(Exchange)
			e.Answer, e.Lost = answered.Answer, answered.Lost
			for _, s := range state.(*State).Next(o, e) {
				next = append(next, s)
			}
			return next
		},
		Equal: func(a, b any) bool { return a.(*State).Equal(b.(*State)) },
	}
	return m.ToModel()
}

// linearizable says whether some order of the calls, which keeps those apart that did not overlap, is allowed.
func linearizable(history []porcupine.Operation) bool {
	tokens := map[string]bool{}
	for _, op := range history {
		if t := Token(op.Output.(Exchange).Answer); t != "" && tokens[t] {
			return false
		} else if t != "" {
			tokens[t] = true
		}
	}
	return porcupine.CheckOperations(linearModel(Options{Deny: []Freedom{f5Contention, f4OrphanStops, f9AbandonScope}}), history)
}

// concurrent records what goroutines do with one store.
type concurrent struct {
	mu      sync.Mutex // of the record
	counter int64
	history []porcupine.Operation

	store   sync.Mutex // one call at a time
	factory engine.Provider
	nowMs   func() int64
}

// do makes a call as a client. A lost one may have happened or not: its answer never came.
func (c *concurrent) do(client int, args call.Call, lost, happens bool) call.Answer {
	tick := func() int64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.counter++
		return c.counter
	}
	op := porcupine.Operation{ClientId: client, Call: tick()}
	runtime.Gosched() // let others begin before this one takes effect
	var a call.Answer
	c.store.Lock()
	at := At(c.nowMs())
	if !lost || happens {
		a = call.Perform(context.Background(), c.factory, args)
	}
	c.store.Unlock()
	runtime.Gosched()
	op.Input, op.Output, op.Return = Exchange{Call: args, At: at}, Exchange{Call: args, Answer: a}, tick()
	if lost {
		a = call.Answer{}
		op.Output, op.Return = Exchange{Call: args, Lost: true}, 1<<60
	}
	c.mu.Lock()
	c.history = append(c.history, op)
	c.mu.Unlock()
	return a
}

// client is what one goroutine does: it sends, takes, commits and gives back.
func (c *concurrent) client(id int, calls int, losses bool) {
	random := rand.New(rand.NewPCG(uint64(id), 7))
	token, work := "", ""
	for i := range calls {
		in := string(rune('A' + random.IntN(2)))
		var args call.Call
		switch n := random.IntN(8); {
		case n < 2:
			args = send(engine.StartItem{Instance: in, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1})
		case n < 4 && token == "":
			args = fetchAny()
		case n < 5 && token != "":
			args = call.AbandonOrchestrationItem{LockToken: token, IgnoreAttempt: true}
		case token != "":
			a := ackOf1(token, named)
			a.HistoryDelta = []engine.Event{event(uint64(100*id+i+2), eventdata.KeyValueSet{Key: "k", Value: fmt.Sprint(id, i)})}
			a.WorkerItems = []engine.WorkItem{activityOf(uint64(100*id+i), "", "")}
			args = a
		case n < 6 && work != "":
			args = call.AckWorkItem{LockToken: work, Completion: engine.ActivityCompletedItem{Instance: in, ExecutionID: 1, ID: 2}}
		case n < 7:
			args = fetchWorkAny()
		default:
			args = call.GetKVValue{Instance: in, Key: "k"}
		}
		a := c.do(id, args, losses && random.IntN(6) == 0, random.IntN(2) == 0)
		switch args.(type) {
		case call.FetchOrchestrationItem:
			if a.Orchestration != nil {
				token = a.Orchestration.LockToken
			}
		case call.FetchWorkItem:
			if a.Work != nil {
				work = a.Work.LockToken
			}
		case call.AckOrchestrationItem, call.AbandonOrchestrationItem:
			token = ""
		case call.AckWorkItem:
			work = ""
		}
	}
}

func record(t *testing.T, rules func() *storerules.Rules, losses bool) []porcupine.Operation {
	o := memprovider.Options{StartMs: 1000}
	if rules != nil {
		o.Rules = rules()
	}
	store := memprovider.New(o)
	c := &concurrent{factory: store.Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{Node: 1, Incarnation: 1}), nowMs: store.Now}
	var all sync.WaitGroup
	for id := range 4 {
		all.Go(func() { c.client(id, 7, losses) })
	}
	all.Wait()
	return c.history
}

func TestConcurrentHistoriesAreLinearizable(t *testing.T) {
	for _, losses := range []bool{false, true} {
		for run := range 30 {
			history := record(t, nil, losses)
			if !linearizable(history) {
				t.Fatalf("run %d, losses %v: no order of these calls is allowed:\n%s", run, losses, told(history))
			}
		}
	}
}

// told is a history as text, a line a call, with the ticks between which it took effect.
func told(history []porcupine.Operation) string {
	text := ""
	for _, op := range history {
		text += fmt.Sprintf("client %d, %d to %d: %s\n  → %s\n", op.ClientId, op.Call, op.Return, op.Input.(Exchange), op.Output.(Exchange).AnswerText())
	}
	return text
}

// TestConcurrentBugsAreNotLinearizable sees that the search can fail: what a store does wrong
// whoever calls it has no right order in about one history of ten at least.
func TestConcurrentBugsAreNotLinearizable(t *testing.T) {
	for _, id := range []faults.BugID{"provider/late-arrivals-deleted-by-ack", "provider/check-then-set-lock"} {
		wrong := wrongBy(id)
		seen := false
		for run := 0; run < 500 && !seen; run++ {
			seen = !linearizable(record(t, wrong, false))
		}
		if !seen {
			t.Errorf("%s: 500 concurrent histories have a right order", id)
		}
	}
}

// errLost marks an answer that never came.
var errLost = errors.New("lost")

// op is a call of a made-up history, from one tick to another.
func op(from, to int64, args call.Call, a call.Answer) porcupine.Operation {
	return porcupine.Operation{Input: Exchange{Call: args, At: At(1000)}, Output: Exchange{Call: args, Answer: a, Lost: errors.Is(a.Err, errLost)}, Call: from, Return: to}
}

func TestPlantedHistories(t *testing.T) {
	const never = 1 << 60
	lost := call.Answer{Err: errLost}
	value := func(v string) call.Answer { return call.Answer{Value: &v} }
	set := func(id uint64, v string) call.AckOrchestrationItem {
		a := ackOf1("o1", named)
		a.HistoryDelta = []engine.Event{event(id, eventdata.KeyValueSet{Key: "k", Value: v})}
		return a
	}
	sent := op(1, 2, send(startA), call.Answer{})
	fetched := op(3, 4, fetchAny(), item("o1", 1, startA))
	for _, c := range []struct {
		name    string
		right   bool
		history []porcupine.Operation
	}{
		{"one of two concurrent fetches finds it", true, []porcupine.Operation{
			sent, op(3, 6, fetchAny(), item("o1", 1, startA)), op(4, 5, fetchAny(), call.Answer{})}},
		{"double hand-out", false, []porcupine.Operation{
			sent, op(3, 6, fetchAny(), item("o1", 1, startA)), op(4, 5, fetchAny(), item("o2", 1, startA))}},
		{"one token twice", false, []porcupine.Operation{
			sent, op(3, 6, fetchAny(), item("o1", 1, startA)), op(7, 8, call.AbandonOrchestrationItem{LockToken: "o1"}, call.Answer{}), op(9, 10, fetchAny(), item("o1", 2, startA))}},
		{"fetched before it was sent", false, []porcupine.Operation{
			op(1, 2, fetchAny(), item("o1", 1, startA)), op(3, 4, send(startA), call.Answer{})}},
		{"exactly one of two acks", true, []porcupine.Operation{
			sent, fetched, op(5, 8, set(2, "1"), call.Answer{}), op(6, 7, set(3, "2"), permit), op(9, 10, call.GetKVValue{Instance: "A", Key: "k"}, value("1"))}},
		{"both acks", false, []porcupine.Operation{
			sent, fetched, op(5, 8, set(2, "1"), call.Answer{}), op(6, 7, set(3, "2"), call.Answer{})}},
		{"lost update", false, []porcupine.Operation{
			sent, fetched, op(5, 6, set(2, "1"), call.Answer{}), op(7, 8, call.GetKVValue{Instance: "A", Key: "k"}, call.Answer{})}},
		{"a lost ack that was done", true, []porcupine.Operation{
			sent, fetched, op(5, never, set(2, "1"), lost), op(7, 8, call.GetKVValue{Instance: "A", Key: "k"}, value("1")), op(9, 10, set(3, "2"), permit)}},
		{"a lost ack that was not done", true, []porcupine.Operation{
			sent, fetched, op(5, never, set(2, "1"), lost), op(7, 8, set(3, "2"), call.Answer{}), op(9, 10, call.GetKVValue{Instance: "A", Key: "k"}, value("2"))}},
		{"a lost ack that was done and undone", false, []porcupine.Operation{
			sent, fetched, op(5, never, set(2, "1"), lost), op(7, 8, call.GetKVValue{Instance: "A", Key: "k"}, value("1")), op(9, 10, call.GetKVValue{Instance: "A", Key: "k"}, call.Answer{})}},
		{"a lost fetch holds the lock", true, []porcupine.Operation{
			sent, op(3, never, fetchAny(), lost), op(5, 6, fetchAny(), call.Answer{})}},
		{"nobody holds the lock", false, []porcupine.Operation{sent, op(5, 6, fetchAny(), call.Answer{})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if linearizable(c.history) != c.right {
				t.Errorf("linearizable: %v", !c.right)
			}
		})
	}
}

// wrongBy makes the rules of a store with planted bugs.
func wrongBy(ids ...faults.BugID) func() *storerules.Rules {
	return func() *storerules.Rules {
		tables, err := faults.NewTables(ids...)
		if err != nil {
			panic(err)
		}
		return tables.Provider
	}
}
