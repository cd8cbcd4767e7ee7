package undertest

import (
	"errors"
	"reflect"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/oracle"
)

// Chosen returns the contract's freedoms that memprovider's documentation says it does not use.
func Chosen() []oracle.Freedom {
	return []oracle.Freedom{
		"F1", "F4", "F6", "F7", "F8", "F9",
		"F14", "F15", "F16", "F17", "F18", "F19", "F20", "F21", "F22",
		"F23", "F25", "F26", "F27", "F28", "X1", "X4", "X6",
	}
}

// InMemory makes memprovider stores in virtual time, from StartMs on. They share nothing, and support all that a test can
// do to a store, such as damaging stored bytes and making an ack fail before any of its steps. Rules, if not nil, returns
// the rules for a store; if Rules or the rules are nil, the store follows the correct rules. Sink, if not nil, observes
// the stores.
type InMemory struct {
	Rules func() *memprovider.Rules
	Sink  memprovider.Sink
}

// StartMs is the time at which stores start.
const StartMs = 1_000_000

// codec reads and writes every kind of event and message.
var codec = engine.NewJSONCodec("everything", engine.Kinds2x(), engine.WorkItemKinds2x())

// UnderTest returns a Factory of these stores.
func (f InMemory) UnderTest() Factory {
	return Factory{New: func() (*Store, error) { return f.store(), nil }}
}

func (f InMemory) store() *Store {
	queued := &rows{sink: f.Sink, fail: -1}
	o := memprovider.Options{
		Sink: queued, StartMs: StartMs, Recheck: true,
		BeforeAckStep: func(step memprovider.AckStep) error {
			if int(step) != queued.fail {
				return nil
			}
			return errors.New("storage failed")
		},
	}
	if f.Rules != nil {
		o.Rules = f.Rules()
	}
	store := memprovider.New(o)
	return &Store{
		Provider: store.Handle(codec, observe.Caller{Node: 1, Incarnation: 1}),
		Advance:  func(d time.Duration) { store.SetNow(store.Now() + d.Milliseconds()) },
		NowMs:    store.Now,
		CorruptHistory: func(instance string, execution, event uint64) error {
			return store.Damage(instance, execution, event, []byte("{"))
		},
		CorruptMessage: func(item engine.WorkItem) error { return queued.corrupt(store, item) },
		FailAckStep:    func(step int) { queued.fail = step % memprovider.AckSteps },
		Sequential:     true,
	}
}

// rows records the rows in a store's queues. It also has the step before which the next ack fails, or -1 if it does not
// fail.
type rows struct {
	sink observe.Sink
	all  []row
	fail int
}

type row struct {
	no      observe.MessageNo
	item    engine.WorkItem
	damaged bool
}

func (r *rows) Observe(o *observe.Observation) {
	switch {
	case o.Kind == observe.RowInserted:
		r.all = append(r.all, row{no: o.Message, item: o.Item})
	case o.Kind == observe.CallEnd && o.CallKind == observe.CallAckOrchestrationItem:
		r.fail = -1
	}
	if r.sink != nil {
		r.sink.Observe(o)
	}
}

// corrupt damages the newest row that still exists, holds the item, and is not damaged yet.
func (r *rows) corrupt(store *memprovider.Store, item engine.WorkItem) error {
	for i := len(r.all) - 1; i >= 0; i-- {
		x := &r.all[i]
		if !x.damaged && reflect.DeepEqual(x.item, item) && store.DamageMessage(x.no, []byte("{")) == nil {
			x.damaged = true
			return nil
		}
	}
	return errors.New("no such row")
}
