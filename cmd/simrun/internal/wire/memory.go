package wire

import (
	"context"
	"errors"
	"slices"

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
	rows, failing := &insertedRows{}, -1
	options := memprovider.Options{StartMs: startMs, Rules: o.Rules, Sink: rows, BeforeAckStep: func(step memprovider.AckStep) error {
		if failing < 0 || int(step) != failing%memprovider.AckSteps {
			return nil
		}
		return engine.Retryablef("ack_orchestration_item", "the storage failed before step %d of the ack", step)
	}}
	store := &Store{}
	var within func(do func(s *memprovider.Store)) // calls do when no call is being made
	if o.Live {
		s := live.Open(options)
		within = s.Do
		store.Provider, store.LongPolls = s.Handle(codec(), observe.Caller{}), true
		store.Close = func() { _ = s.Close() } // fails only if the store is already closed
	} else {
		s := memprovider.New(options)
		within = func(do func(s *memprovider.Store)) { do(s) }
		store.Provider, store.SetClock = s.Handle(codec(), observe.Caller{}), s.SetNow
	}
	store.NowMs = func() (now int64) {
		within(func(s *memprovider.Store) { now = s.Now() })
		return now
	}
	store.Damage = func(c call.Call) (err error) {
		within(func(s *memprovider.Store) { err = rows.damage(s, c) })
		return err
	}
	store.FailAckStep = func(step int) { within(func(*memprovider.Store) { failing = step }) }
	store.Provider = disarmed(store.Provider, func() { store.FailAckStep(-1) })
	if len(o.Faults.Rates) > 0 {
		failing := &unreliable{inner: store.Provider, rates: o.Faults.Rates, seed: o.Seed, live: o.Live, on: true}
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

// insertedRows tracks the rows in a store's queues, so that a caller can damage them.
type insertedRows struct {
	rows []*insertedRow
}

type insertedRow struct {
	no      observe.MessageNo
	text    string // the item's text
	damaged bool
}

func (r *insertedRows) Observe(o *observe.Observation) {
	if o.Kind == observe.RowInserted {
		text, _ := call.ItemText(o.Item) // an item without text is never damaged
		r.rows = append(r.rows, &insertedRow{no: o.Message, text: text})
	}
}

// damage damages an event, or the newest row that holds an item.
func (r *insertedRows) damage(s *memprovider.Store, c call.Call) error {
	if e, ok := c.(call.CorruptEvent); ok {
		return s.Damage(e.Instance, e.ExecutionID, e.EventID, []byte("damaged"))
	}
	text, err := call.ItemText(c.(call.CorruptMessage).Item)
	if err != nil {
		return err
	}
	for _, row := range slices.Backward(r.rows) {
		if !row.damaged && row.text == text && s.DamageMessage(row.no, []byte("damaged")) == nil {
			row.damaged = true
			return nil
		}
	}
	return errors.New("no such message is queued")
}
