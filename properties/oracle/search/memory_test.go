package search

import (
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

var everything = engine.NewJSONCodec("everything", engine.Kinds2x(), engine.WorkItemKinds2x())

// inMemory makes memprovider stores that follow the given rules, or the contract's if rules is nil.
func inMemory(rules func() *memprovider.Rules) undertest.Factory {
	return undertest.InMemory{Rules: rules}.UnderTest()
}

func TestMemprovider(t *testing.T) {
	Check(t, inMemory(nil), Options{Sequences: int(sample.Number(80, 500))})
}

func TestMemproviderDoesWhatItChose(t *testing.T) {
	Check(t, inMemory(nil), Options{Oracle: oracle.Options{Deny: undertest.Chosen()}, First: 501, Sequences: int(sample.Number(80, 500))})
}

// TestWallClock checks a store that uses the wall clock. If something becomes due during a call, the answer may go
// either way.
func TestWallClock(t *testing.T) {
	Check(t, undertest.Factory{New: func() (*undertest.Store, error) {
		store := live.Open(memprovider.Options{})
		return &undertest.Store{
			Provider: store.Handle(everything, observe.Caller{Node: 1, Incarnation: 1}),
			NowMs: func() (now int64) {
				store.Do(func(s *memprovider.Store) { now = s.Now() })
				return now
			},
			CorruptHistory: func(instance string, execution, eventID uint64) (err error) {
				store.Do(func(s *memprovider.Store) { err = s.Damage(instance, execution, eventID, []byte("{")) })
				return err
			},
			Close: func() { _ = store.Close() },
		}, nil
	}}, Options{Sequences: 200})
}

// TestSequencesReachEverything checks that the sequences call every method, that most methods give every kind of
// answer, and that many freedoms are used.
func TestSequencesReachEverything(t *testing.T) {
	succeeded, failed, states := map[string]int{}, map[string]int{}, 0
	found, calls := 0, 0
	for seed := range sample.Number(300, 1600) {
		c, err := sequence(inMemory(nil), oracle.Options{}, seed, map[string]bool{}, func(e oracle.Exchange) {
			calls++
			if e.Answer.Err != nil {
				failed[call.Method(e.Call)]++
			} else {
				succeeded[call.Method(e.Call)]++
			}
			if f := e.Answer.Orchestration; f != nil && len(f.Item.History) > 0 || e.Answer.Work != nil {
				found++
			}
		})
		if err != nil || c.refusal != nil {
			t.Fatal(err, c.refusal)
		}
		states = max(states, c.oracle.States())
	}
	t.Logf("%d calls, %d deliveries with a history or of work, at most %d states at the end of a sequence", calls, found, states)
	for _, c := range call.All() {
		if _, planted := c.(call.Plant); !planted && succeeded[call.Method(c)] == 0 {
			t.Errorf("%s never succeeded", call.Method(c))
		}
	}
	for _, c := range []call.Call{
		call.AckOrchestrationItem{}, call.AbandonOrchestrationItem{}, call.RenewOrchestrationItemLock{}, call.AckWorkItem{}, call.AbandonWorkItem{},
		call.RenewWorkItemLock{}, call.EnqueueForOrchestrator{}, call.AppendWithExecution{}, call.Read{}, call.DeleteInstance{},
		call.DeleteInstancesAtomic{}, call.PruneExecutions{}, call.GetInstanceInfo{}, call.GetExecutionInfo{}, call.GetParentID{},
	} {
		if failed[call.Method(c)] == 0 {
			t.Errorf("%s never failed", call.Method(c))
		}
	}
	if found < 200 || states < 4 {
		t.Errorf("%d deliveries with a history or of work, at most %d states", found, states)
	}
}

func wrongBy(ids ...faults.BugID) func() *memprovider.Rules {
	return func() *memprovider.Rules {
		tables, err := faults.NewTables(ids...)
		if err != nil {
			panic(err)
		}
		return tables.Provider
	}
}
