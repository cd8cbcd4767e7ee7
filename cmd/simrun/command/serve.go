package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/faults/faultkind"
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

// address is a network address in the form unix:PATH or tcp:HOST:PORT.
type address struct{ network, where string }

// UnmarshalText parses an address.
func (a *address) UnmarshalText(text []byte) error {
	network, where, _ := strings.Cut(string(text), ":")
	if network != "unix" && network != "tcp" || where == "" {
		return fmt.Errorf("%q: expected unix:PATH or tcp:HOST:PORT", text)
	}
	*a = address{network, where}
	return nil
}

func (a address) String() string { return a.network + ":" + a.where }

// listen serves each connection with its own store until in ends, so that it exits together with the program that
// started it. It first prints the address, because the requested port may be 0.
func (a *app) listen(at address, in io.Reader, server func() *wire.Server) error {
	listener, err := net.Listen(at.network, at.where)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	a.printf("listening on %s:%s\n", at.network, listener.Addr())
	if err := a.stdout.Flush(); err != nil {
		return errors.Join(err, listener.Close())
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		fmt.Fprintf(a.stderr, "%s: warning: other machines can reach tcp:%s, and whoever does can make every call of the store; tcp:127.0.0.1:PORT is for this machine only\n", a.program.name(), tcp)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, in) // only the end of the input matters
		cancel()
		_ = listener.Close()
	}()
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			cancel()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		connections.Go(func() {
			defer conn.Close()
			_ = server().Serve(ctx, conn, conn) // a broken connection affects only that caller
		})
	}
}

// unreliable makes calls by nodes fail at the rates in a fault plan. Calls by clients never fail. For the same seed, a
// node's n-th call always has the same faults.
type unreliable struct {
	inner engine.Provider
	rates []faults.Rate
	seed  uint64
	live  bool // a delayed call really sleeps

	mu      sync.Mutex
	on      bool
	calls   uint64
	refused uint64 // calls up to this number are rejected by the store
}

func newUnreliable(p engine.Provider, plan faults.Plan, seed uint64, live bool) *unreliable {
	return &unreliable{inner: p, rates: plan.Rates, seed: seed, live: live, on: true}
}

// turn enables or disables the faults.
func (u *unreliable) turn(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.on, u.refused = on, 0
}

func (u *unreliable) provider() engine.Provider {
	return call.Through(u.inner.Name(), u.inner.Version(), u.inner.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		switch c.(type) {
		case call.FetchOrchestrationItem, call.AckOrchestrationItem, call.AbandonOrchestrationItem, call.RenewOrchestrationItemLock,
			call.FetchWorkItem, call.AckWorkItem, call.AbandonWorkItem, call.RenewWorkItemLock, call.RenewSessionLock, call.CleanupOrphanedSessions:
			return u.perform(ctx, c)
		}
		return call.Perform(ctx, u.inner, c)
	})
}

// unavailableCalls is the number of calls that the store rejects during one outage. latest is the maximum delay of a
// call.
const (
	unavailableCalls = 20
	latestCall       = 2 * time.Second
)

// happening is a fault that hits one call.
type happening struct {
	kind faults.Kind
	late time.Duration
}

// draw returns the fault for the next call, or the zero value if there is none.
func (u *unreliable) draw(c call.Call) happening {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls++
	if !u.on {
		return happening{}
	}
	if u.calls <= u.refused {
		return happening{kind: faultkind.Unavailable}
	}
	random := rand.New(rand.NewPCG(u.seed, u.calls))
	for _, r := range u.rates {
		if random.Uint64N(r.Den) >= r.Num || !befalls(r.Kind, c) {
			continue
		}
		if r.Kind == faultkind.Unavailable {
			u.refused = u.calls + unavailableCalls
		}
		return happening{kind: r.Kind, late: time.Duration(random.Int64N(int64(latestCall)))}
	}
	return happening{}
}

// befalls reports whether a fault of that kind can hit call c. Other kinds hit nodes and clients instead of calls.
func befalls(kind faults.Kind, c call.Call) bool {
	switch kind {
	case faultkind.RequestLost, faultkind.AnswerLost, faultkind.CallDelayed, faultkind.RetryableError, faultkind.PermanentError, faultkind.Unavailable:
		return true
	case faultkind.AckStepError: // the store undoes the previous steps
		_, ack := c.(call.AckOrchestrationItem)
		return ack
	case faultkind.LostRenewal:
		switch c.(type) {
		case call.RenewOrchestrationItemLock, call.RenewWorkItemLock, call.RenewSessionLock:
			return true
		}
	}
	return false
}

func (u *unreliable) perform(ctx context.Context, c call.Call) call.Answer {
	what := u.draw(c)
	switch what.kind {
	case faultkind.RequestLost, faultkind.LostRenewal:
		return call.Answer{Err: engine.Retryablef(call.Method(c), "no answer: the request was lost")}
	case faultkind.RetryableError, faultkind.AckStepError:
		return call.Answer{Err: engine.Retryablef(call.Method(c), "the store is busy")}
	case faultkind.Unavailable:
		return call.Answer{Err: engine.Retryablef(call.Method(c), "the store is unavailable")}
	case faultkind.PermanentError:
		return call.Answer{Err: engine.Permanentf(call.Method(c), "the store refuses this call")}
	case faultkind.CallDelayed:
		if u.live {
			time.Sleep(what.late)
		}
	}
	a := call.Perform(ctx, u.inner, c)
	if what.kind == faultkind.AnswerLost {
		return call.Answer{Err: engine.Retryablef(call.Method(c), "no answer: it was lost")}
	}
	return a
}
