package wire

import (
	"context"
	"errors"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
)

// StoreOptions describes a store. The zero value is a correct one whose caller sets the clock.
type StoreOptions struct {
	Rules  *memprovider.Rules // nil means the correct rules
	Live   bool               // the store uses the wall clock
	Faults faults.Plan        // what befalls the calls of nodes, as Seed draws it
	Seed   uint64
}

// NewStore returns an empty store.
func NewStore(o StoreOptions) *Store {
	store := inMemory(o.Rules)
	if o.Live {
		store = inRealTime(o.Rules)
	}
	if len(o.Faults.Rates) > 0 {
		failing := newUnreliable(store.Provider, o.Faults, o.Seed, o.Live)
		store.Provider, store.SetFaults = failing.provider(), failing.turn
	}
	return store
}

// startMs is the initial time of a new store's clock. With an initial time near 0, mistakes about times in the
// past would go unnoticed.
const startMs = 1_000_000

// codec returns a codec that accepts everything, including kinds and fields added by later releases.
func codec() engine.Codec {
	return engine.Opaque(engine.NewJSONCodec("serve", engine.Kinds2x(), engine.WorkItemKinds2x()))
}

// inMemory returns a store whose clock is set by the caller.
func inMemory(rules *memprovider.Rules) *Store {
	rows, failing := &insertedRows{}, -1
	s := memprovider.New(memprovider.Options{StartMs: startMs, Rules: rules, Sink: rows,
		BeforeAckStep: func(_ uint64, step memprovider.AckStep) error { return failAt(&failing, step) }})
	return &Store{
		Provider: disarmed(s.Handle(codec(), observe.Caller{}), func() { failing = -1 }), NowMs: s.Now, SetClock: s.SetNow,
		CorruptEvent: func(instance string, execution, event uint64) error {
			return s.Damage(instance, execution, event, []byte("damaged"))
		},
		CorruptMessage: func(item engine.WorkItem) error { return rows.corrupt(s, item) },
		FailAckStep:    func(step int) { failing = step },
	}
}

// inRealTime returns a store that uses the wall clock.
func inRealTime(rules *memprovider.Rules) *Store {
	rows, failing := &insertedRows{}, -1
	s := live.Open(memprovider.Options{Rules: rules, Sink: rows,
		BeforeAckStep: func(_ uint64, step memprovider.AckStep) error { return failAt(&failing, step) }})
	nowMs := func() (now int64) {
		s.Do(func(inner *memprovider.Store) { now = inner.Now() })
		return now
	}
	return &Store{
		Provider: disarmed(s.Handle(codec(), observe.Caller{}), func() { s.Do(func(*memprovider.Store) { failing = -1 }) }), NowMs: nowMs, LongPolls: true,
		CorruptEvent: func(instance string, execution, event uint64) (err error) {
			s.Do(func(inner *memprovider.Store) { err = inner.Damage(instance, execution, event, []byte("damaged")) })
			return err
		},
		CorruptMessage: func(item engine.WorkItem) (err error) {
			s.Do(func(inner *memprovider.Store) { err = rows.corrupt(inner, item) })
			return err
		},
		FailAckStep: func(step int) { s.Do(func(*memprovider.Store) { failing = step }) },
		Close:       func() { _ = s.Close() }, // fails only if the store is already closed
	}
}

// disarmed wraps p so that it calls disarm after each orchestration ack. Thus, a failure planned for one ack does not
// hit a later ack.
func disarmed(p engine.Provider, disarm func()) engine.Provider {
	return call.Through(p.Name(), p.Version(), true, func(ctx context.Context, c call.Call) call.Answer {
		a := call.Perform(ctx, p, c)
		if _, ack := c.(call.AckOrchestrationItem); ack {
			disarm()
		}
		return a
	})
}

// failAt returns an error if *failing selects step. A negative *failing selects none.
func failAt(failing *int, step memprovider.AckStep) error {
	if *failing < 0 || int(step) != *failing%memprovider.AckSteps {
		return nil
	}
	return engine.Retryablef("ack_orchestration_item", "the storage failed before step %d of the ack", step)
}

// insertedRows tracks the rows in a store's queues, so that a caller can damage them.
type insertedRows struct {
	rows []insertedRow
}

type insertedRow struct {
	no      observe.MessageNo
	text    string // the item's text
	damaged bool
}

// Observe implements observe.Sink.
func (r *insertedRows) Observe(o *observe.Observation) {
	if o.Kind == observe.RowInserted {
		text, _ := call.ItemText(o.Item) // an item without text is never damaged
		r.rows = append(r.rows, insertedRow{no: o.Message, text: text})
	}
}

func (r *insertedRows) corrupt(s *memprovider.Store, item engine.WorkItem) error {
	text, err := call.ItemText(item)
	if err != nil {
		return err
	}
	for i := len(r.rows) - 1; i >= 0; i-- {
		row := &r.rows[i]
		if !row.damaged && row.text == text && s.DamageMessage(row.no, []byte("damaged")) == nil {
			row.damaged = true
			return nil
		}
	}
	return errors.New("no such message is queued")
}
