package conformance_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

func TestMain(m *testing.M) { sample.Main(m) }

// memory makes stores in virtual time that follow the given rules, or the correct rules if rules is nil.
func memory(rules *memprovider.Rules) conformance.Factory { return watchedMemory(rules, nil) }

// watchedMemory is like memory, but also reports the stores' observations to a sink.
func watchedMemory(rules *memprovider.Rules, sink observe.Sink) conformance.Factory {
	return conformance.Factory{New: func() (*conformance.Store, error) {
		queued := &queuedRows{sink: sink}
		fail := -1
		store := memprovider.New(memprovider.Options{
			Rules: rules, Sink: queued, StartMs: 1_000_000, Recheck: true,
			BeforeAckStep: func(step memprovider.AckStep) error {
				if int(step) != fail {
					return nil
				}
				fail = -1
				return errors.New("storage failed")
			},
		})
		return &conformance.Store{
			Provider: store.Handle(codec(), observe.Caller{Node: 1, Incarnation: 1}),
			Advance:  func(d time.Duration) { store.SetNow(store.Now() + d.Milliseconds()) },
			NowMs:    store.Now,
			CorruptHistory: func(instance string, execution, event uint64) error {
				return store.Damage(instance, execution, event, []byte("{"))
			},
			CorruptMessage: func(item engine.WorkItem) error { return store.DamageMessage(queued.newest(item), []byte("{")) },
			FailAckStep:    func(step int) { fail = step % memprovider.AckSteps },
			Sequential:     true,
		}, nil
	}}
}

// codec returns a codec for every kind of event.
func codec() engine.Codec {
	for _, b := range engine.ShippedBuilds() {
		if b.Name() == "2.0.0" {
			return b.Codec
		}
	}
	panic("no build 2.0.0")
}

// TestMemprovider runs every case against memprovider, in virtual time.
func TestMemprovider(t *testing.T) { conformance.Run(t, memory(nil)) }

// TestMemproviderWithTwoIndexes runs the cases with custom rules that are equal to the correct ones. This makes
// memprovider use a different index, which must not change the results.
func TestMemproviderWithTwoIndexes(t *testing.T) {
	conformance.Run(t, memory(memprovider.DefaultRules()))
}

// TestWalkOfSome checks that a random walk judges a provider's methods even if the provider has only some of them.
func TestWalkOfSome(t *testing.T) {
	some := conformance.Factory{New: func() (*conformance.Store, error) {
		store, err := memory(nil).New()
		store.Methods = []string{"enqueue_for_orchestrator", "fetch_orchestration_item", "enqueue_for_worker", "fetch_work_item", "ack_work_item"}
		return store, err
	}}
	if r := conformance.Ask(some, "BP-157")[0]; r.Verdict() != conformance.Passed {
		t.Errorf("%s: %s%s", r.Verdict(), r.Failure, r.Skipped)
	}
}

// TestTwoRunsAreOne runs the cases twice and checks that the stores do exactly the same in both runs.
func TestTwoRunsAreOne(t *testing.T) {
	run := func() []string {
		log := &callLog{}
		conformance.Ask(watchedMemory(nil, log))
		return log.lines
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Error(diff)
	}
}

// callLog records the parts of every observation that can be compared.
type callLog struct{ lines []string }

func (l *callLog) Observe(o *observe.Observation) {
	l.lines = append(l.lines, fmt.Sprint(o.Kind, o.Call, o.AtMs, o.Queue, o.CallKind, o.Outcome, o.Reason, o.Undo, o.Instance, o.Execution, o.EventID,
		o.Message, o.Messages, o.Token, o.OldCount, o.NewCount, o.UntilMs, o.Name, string(o.Bytes), o.Status))
}

// queuedRows finds queue rows by their items.
type queuedRows struct {
	sink  observe.Sink
	items []engine.WorkItem // indexed by number - 1
}

func (q *queuedRows) Observe(o *observe.Observation) {
	if o.Kind == observe.RowInserted {
		for len(q.items) < int(o.Message) {
			q.items = append(q.items, nil)
		}
		q.items[o.Message-1] = o.Item
	}
	if q.sink != nil {
		q.sink.Observe(o)
	}
}

// newest returns the newest row that holds an item, or 0 if there is none.
func (q *queuedRows) newest(item engine.WorkItem) observe.MessageNo {
	for i := len(q.items); i > 0; i-- {
		if q.items[i-1] == item {
			return observe.MessageNo(i)
		}
	}
	return 0
}
