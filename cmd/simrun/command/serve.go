package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
	"github.com/durosim/durosim/memprovider/storerules"
)

// serveCmd implements `simrun serve`, which makes the in-memory provider available to programs in any language.
type serveCmd struct {
	Bug    []string `help:"Break a rule of the provider; may be repeated. \"simrun list bugs\" lists some; their names begin with provider/." placeholder:"ID"`
	Live   bool     `help:"Use the wall clock: fetches wait up to their poll timeout, and calls overlap."`
	Faults string   `help:"Make calls of nodes fail, or succeed without an answer: none, light or full." enum:"none,light,full" default:"none" placeholder:"LEVEL"`
	Seed   seed     `help:"Draw the faults from this seed." default:"1" placeholder:"N"`
	Listen address  `help:"Serve connections at this address, each with a store of its own, until standard input ends: unix:PATH or tcp:HOST:PORT, where port 0 means any free port." placeholder:"ADDRESS"`
	Schema bool     `help:"Print the JSON Schema of the messages, and serve nothing."`
}

// Help returns the text printed below the flags.
func (serveCmd) Help() string {
	return `Answers JSON-RPC 2.0 requests, one per line on standard input, with one line each on standard output: every call of a provider, in memory and in virtual time, as docs/oracle-protocol.md describes. It ends when its input ends. It answers an invalid line with an error, and continues with the next line.

Examples:

    simrun serve
    simrun serve --bug provider/filter-ignored
    simrun serve --listen tcp:127.0.0.1:0
    simrun serve --live --faults light --seed 7
    simrun oracle -- simrun serve

Exit status: 0 when the input has ended, 2 usage or bad input.`
}

// serveStartMs is the initial time of a new store's clock. With an initial time near 0, mistakes about times in the
// past would go unnoticed.
const serveStartMs = 1_000_000

func (c *serveCmd) run(a *app) (int, error) {
	if c.Schema {
		text, err := wire.Schema()
		if err == nil {
			_, err = a.stdout.Write(text)
		}
		return exitOK, err
	}
	var set []faults.BugID
	for _, id := range c.Bug {
		if !isProviderBug(id) {
			return 0, fmt.Errorf("--bug %q: no bug of the in-memory provider has this name", id)
		}
		set = append(set, faults.BugID(id))
	}
	rules, err := faults.NewTables(set...)
	if err != nil {
		return 0, err
	}
	server := func() *wire.Server { return c.server(rules.Provider) }
	if c.Listen.network != "" {
		return exitOK, a.listen(c.Listen, os.Stdin, server)
	}
	if err := server().Serve(context.Background(), os.Stdin, unbuffered{a}); err != nil {
		return 0, err
	}
	return exitOK, nil
}

// server returns a server for in-memory stores that follow rules. If rules is nil, the stores follow the correct rules.
func (c *serveCmd) server(rules *storerules.Rules) *wire.Server {
	return &wire.Server{Overlapping: c.Live, New: func() (*wire.Store, error) {
		store := inMemory(rules)
		if c.Live {
			store = inRealTime(rules)
		}
		if level := levels[c.Faults]; len(level.Rates) > 0 {
			failing := newUnreliable(store.Provider, level, uint64(c.Seed), c.Live)
			store.Provider, store.SetFaults = failing.provider(), failing.turn
		}
		return store, nil
	}}
}

// levels maps the fault levels that serve accepts to fault plans.
var levels = map[string]faults.Plan{"none": faults.None(), "light": faults.Light(), "full": faults.Full()}

// serveCodec returns a codec that accepts everything, including kinds and fields added by later releases.
func serveCodec() engine.Codec {
	return engine.Opaque(engine.NewJSONCodec("serve", engine.Kinds2x(), engine.WorkItemKinds2x()))
}

// inMemory returns a store whose clock is set by the caller.
func inMemory(rules *storerules.Rules) *wire.Store {
	rows, failing := &insertedRows{}, -1
	s := memprovider.New(memprovider.Options{StartMs: serveStartMs, Rules: rules, Sink: rows,
		BeforeAckStep: func(_ uint64, step storerules.AckStep) error { return failAt(&failing, step) }})
	return &wire.Store{
		Provider: disarmed(s.Handle(serveCodec(), observe.Caller{}), func() { failing = -1 }), NowMs: s.Now, SetClock: s.SetNow,
		CorruptEvent: func(instance string, execution, event uint64) error {
			return s.Damage(instance, execution, event, []byte("damaged"))
		},
		CorruptMessage: func(item engine.WorkItem) error { return rows.corrupt(s, item) },
		FailAckStep:    func(step int) { failing = step },
	}
}

// inRealTime returns a store that uses the wall clock.
func inRealTime(rules *storerules.Rules) *wire.Store {
	rows, failing := &insertedRows{}, -1
	s := live.Open(memprovider.Options{Rules: rules, Sink: rows,
		BeforeAckStep: func(_ uint64, step storerules.AckStep) error { return failAt(&failing, step) }})
	nowMs := func() (now int64) {
		s.Do(func(inner *memprovider.Store) { now = inner.Now() })
		return now
	}
	return &wire.Store{
		Provider: disarmed(s.Handle(serveCodec(), observe.Caller{}), func() { s.Do(func(*memprovider.Store) { failing = -1 }) }), NowMs: nowMs, LongPolls: true,
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
func failAt(failing *int, step storerules.AckStep) error {
	if *failing < 0 || int(step) != *failing%storerules.AckSteps {
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

func isProviderBug(id string) bool {
	return slices.ContainsFunc(faults.BugsOf("memprovider"), func(b faults.Bug) bool { return string(b.ID) == id })
}

// unbuffered is standard output, flushed after each line because a reader may be waiting for that line.
type unbuffered struct{ a *app }

func (u unbuffered) Write(data []byte) (int, error) {
	n, err := u.a.stdout.Write(data)
	if err == nil {
		err = u.a.stdout.Flush()
	}
	return n, err
}

// Close does nothing: standard output belongs to the program.
func (unbuffered) Close() error { return nil }
