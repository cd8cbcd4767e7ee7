package oracle

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/storerules"
	"github.com/durosim/durosim/memprovider"
)

// inMemory makes memprovider's stores by the given rules; nil are the contract's.
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

func inMemory(rules func() *storerules.Rules) Factory {
	return Factory{New: func(testing.TB) *Instance {
		rows := &insertedRows{}
		o := memprovider.Options{StartMs: 1000, Sink: rows}
		if rules != nil {
			o.Rules = rules()
		}
		store := memprovider.New(o)
		return &Instance{
			Provider: store.Handle(everything, engine.Caller{Node: 1, Incarnation: 1}),
			Advance:  func(d time.Duration) { store.SetNow(store.Now() + d.Milliseconds()) },
			NowMs:    store.Now,
			CorruptHistory: func(instance string, execution, eventID uint64) error {
				return store.Damage(instance, execution, eventID, []byte("{"))
			},
			CorruptMessage: func(item engine.WorkItem) error { return rows.corrupt(store, item) },
		}
	}}
}

// insertedRows remembers what was put into the queues of a store.
type insertedRows struct {
	rows []insertedRow
}

type insertedRow struct {
	no      engine.MessageNo
	item    engine.WorkItem
	damaged bool
}

func (r *insertedRows) Observe(o *engine.Observation) {
	if o.Kind == engine.ObsRowInserted {
		r.rows = append(r.rows, insertedRow{no: o.Message, item: o.Item})
	}
}

func (r *insertedRows) corrupt(store *memprovider.Store, item engine.WorkItem) error {
	for i := len(r.rows) - 1; i >= 0; i-- {
		row := &r.rows[i]
		if !row.damaged && reflect.DeepEqual(row.item, item) && store.DamageMessage(row.no, []byte("{")) == nil {
			row.damaged = true
			return nil
		}
	}
	return errors.New("no such row")
}

// TestMemprovider is short; -rapid.checks=100000 makes it long.
func TestMemprovider(t *testing.T) { Check(t, inMemory(nil)) }

// chosen are the freedoms that memprovider's documentation gives up.
var chosen = []Freedom{
	F1AnyInstance, F4OrphanStops, F6Depths, F7DuplicateAppend, F8ExpiredAbandon, F9AbandonScope, F15DeletedCount, F18RunningStamp, F19Bytes,
	F20HalfNamed, F21MissingParent, F22BulkAtomicity, F23Packed, F25Redelivered, F26ShorterSession, F27LateTouch, F28SurvivingWork, XOrphanBeforeStart,
}

func TestMemproviderDoesWhatItChose(t *testing.T) {
	CheckWith(t, inMemory(nil), Options{Deny: chosen})
}

// TestCheckReachesEverything sees that the sequences call every method, that most are answered in every way that there
// is, and that much of what is left free is met.
func TestCheckReachesEverything(t *testing.T) {
	succeeded, failed, states := map[Method]int{}, map[Method]int{}, 0
	found := 0
	rapidly(t, "seed", "1")
	rapidly(t, "checks", "500")
	rapid.Check(t, func(rt *rapid.T) {
		c := newChecker(t, inMemory(nil), Options{})
		c.watch = func(call Call, a Answer) {
			if a.Err != nil {
				failed[call.Args.Method()]++
			} else {
				succeeded[call.Args.Method()]++
			}
			if a.Item != nil && len(a.Item.History) > 0 || a.Work != nil {
				found++
			}
			states = max(states, c.oracle.States())
		}
		rt.Repeat(c.actions(rt))
	})
	refusable := []Args{
		AckOrchestrationItem{}, AbandonOrchestrationItem{}, RenewOrchestrationItemLock{}, AckWorkItem{}, AbandonWorkItem{}, RenewWorkItemLock{},
		EnqueueForOrchestrator{}, AppendWithExecution{}, Read{}, DeleteInstance{}, DeleteInstancesAtomic{}, PruneExecutions{}, GetInstanceInfo{},
		GetExecutionInfo{}, GetParentID{},
	}
	for _, args := range Methods() {
		if _, planted := args.(Plant); !planted && succeeded[args.Method()] == 0 {
			t.Errorf("%s never succeeded", args.Method())
		}
	}
	for _, args := range refusable {
		if failed[args.Method()] == 0 {
			t.Errorf("%s never failed", args.Method())
		}
	}
	if found < 200 || states < 4 {
		t.Errorf("%d deliveries with a history or of work, at most %d states", found, states)
	}
}
