package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/internal/foreign"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
	"github.com/durosim/durosim/sim/cluster"
)

// remote is a provider in another process, or at a network address.
type remote struct {
	stop func() error
	// abandon kills the process or closes the connection without waiting for it to finish.
	abandon func() error
	// became says what became of the process, with what it wrote to standard error; "" at an address. One whose output has
	// ended is about to end.
	became func(ended bool) string
	client *wire.Client
	// first is how the program has described itself for the first time.
	first wire.Described
	now   int64
	// again starts the program again; nil at an address. kill ends it at once. gone is set while it does not run. unread
	// returns how much of what was sent the program has not read yet.
	again  func() (*remote, error)
	kill   func()
	unread func() int
	gone   bool
	moment time.Duration // how long a call takes: about half of them are answered within it
	kills  int           // in a call
}

// provider selects the provider to check: a child process or a server at an address.
type provider struct {
	Command []string `arg:"" optional:"" help:"The program that serves the provider on its standard input and output, with its arguments, after --."`
	Connect address  `help:"The address at which the provider listens, instead of a program: unix:PATH or tcp:HOST:PORT." placeholder:"ADDRESS"`

	Contract string `help:"The release whose contract holds where 0.1.26 and 0.1.32 differ; if not given, everything that either allows is allowed. See docs/contract-decisions.md." placeholder:"RELEASE"`
}

// denied returns the freedoms that the selected contract denies.
func (p *provider) denied() ([]oracle.Freedom, error) {
	denied, err := oracle.Denied(p.Contract)
	if err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	return denied, nil
}

func (p *provider) name() string {
	if p.Connect.network != "" {
		return p.Connect.String()
	}
	return strings.Join(p.Command, " ")
}

// line returns the command line of a verb with the flags that are set, and the provider.
func (p *provider) line(verb string, flags any) string {
	words := append([]string{verb}, given(flags)...)
	if len(p.Command) > 0 {
		words = append(append(words, "--"), p.Command...)
	}
	return itself(words...)
}

// dial connects to the provider.
func (p *provider) dial(patience time.Duration) (*remote, error) {
	switch {
	case len(p.Command) == 0 && p.Connect.network == "":
		return nil, errors.New("no provider: give a program after --, or --connect")
	case len(p.Command) > 0 && p.Connect.network != "":
		return nil, errors.New("give either a program or --connect, not both")
	case len(p.Command) > 0:
		return start(p.Command, patience)
	}
	conn, err := net.DialTimeout(p.Connect.network, p.Connect.where, patience)
	if err != nil {
		return nil, fmt.Errorf("--connect: %w", err)
	}
	client, err := wire.Dial(context.Background(), foreign.NewLines(conn, conn), wire.ClientOptions{Patience: patience})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.Connect, err), conn.Close())
	}
	return &remote{stop: conn.Close, abandon: conn.Close, became: func(bool) string { return "" }, client: client, first: client.Described()}, nil
}

// alone returns a function that starts the provider once more, with a store that nothing else has used; nil if that is
// not possible.
func (p *provider) alone(peer *remote, patience time.Duration) func() (*undertest.Store, error) {
	if len(p.Command) == 0 || peer.first.Durable {
		return nil
	}
	abandon := func() error { return nil }
	return func() (*undertest.Store, error) {
		_ = abandon() // one that has crashed is not closed
		next, err := start(p.Command, patience)
		if err != nil {
			return nil, err
		}
		abandon = next.abandon
		in, err := next.store()
		if err != nil {
			return nil, err
		}
		in.Close = func() { _ = next.stop() }
		return in, nil
	}
}

func start(command []string, patience time.Duration) (*remote, error) {
	process, err := foreign.Start(command[0], command[1:]...)
	if err != nil {
		return nil, err
	}
	became := func(ended bool) string {
		if ended {
			return process.Describe(2 * time.Second)
		}
		return process.Describe(0)
	}
	client, err := wire.Dial(context.Background(), process, wire.ClientOptions{Patience: patience, Start: startPatience, Became: became})
	if err != nil {
		_ = process.Stop(0) // it does not speak the protocol, so how it exits does not matter
		return nil, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return &remote{
		stop: func() error { return process.Stop(stopPatience) }, abandon: func() error { return process.Stop(0) }, became: became, client: client, first: client.Described(),
		again: func() (*remote, error) { return start(command, patience) }, kill: process.Kill, unread: process.Unread,
	}, nil
}

// restart kills the program if it still runs, and starts it again, on what it has stored and at the same time.
func (r *remote) restart() (engine.Provider, error) {
	r.kill()
	r.gone = true
	next, err := r.again()
	if err != nil {
		return nil, err
	}
	next.now, next.moment, next.kills, next.first = r.now, r.moment, r.kills, r.first
	*r = *next
	if err := r.goesOn(); err != nil {
		r.kill()
		r.gone = true
		return nil, err
	}
	return r.client, nil
}

// goesOn sets the clock of a program that was started again, and returns an error if it is not what it was.
func (r *remote) goesOn() error {
	if is := r.client.Described(); !reflect.DeepEqual(r.first, is) {
		return fmt.Errorf("describe: it says of itself %s, and said %s", asJSON(is), asJSON(r.first))
	}
	if !r.first.VirtualClock {
		return nil
	}
	now, err := r.client.Now(context.Background())
	if err == nil && now > r.now {
		err = fmt.Errorf("clock_now: the clock shows %d, and showed %d before", now, r.now)
	}
	if err != nil {
		return err
	}
	return r.client.SetNow(context.Background(), r.now)
}

func asJSON(d wire.Described) string {
	text, _ := json.Marshal(d) // it has only texts and truth values
	return string(text)
}

// killIn makes a call and kills the program while it works on it, as far as that can be known: a while after it has read
// the request, which is about as long as it takes to answer, or a part of that.
func (r *remote) killIn(c call.Call) (call.Answer, bool) {
	client, done := r.client, make(chan call.Answer, 1)
	parts := [...]time.Duration{100, 80, 60, 40, 20}
	part := parts[r.kills%len(parts)]
	r.kills++
	go func() { done <- call.Perform(context.Background(), client, c) }()
	spin := func(most time.Duration, until func() bool) {
		for from := time.Now(); time.Since(from) < most && len(done) == 0 && !until(); {
			runtime.Gosched() // a timer is too coarse
		}
	}
	spin(time.Millisecond, func() bool { return r.unread() != 0 })
	spin(100*time.Millisecond, func() bool { return r.unread() <= 0 })
	spin(r.moment*part/100, func() bool { return false })
	r.kill()
	r.gone = true
	a := <-done
	answered := client.Failure() == nil
	switch {
	case part < 100:
	case answered:
		r.moment = max(r.moment*3/4, time.Microsecond)
	default:
		r.moment = min(r.moment*4/3, time.Second)
	}
	return a, answered
}

// broken returns why the other side cannot be judged, or nil. It covers the calls outside the provider interface, whose
// errors are not looked at where they are made.
func (r *remote) broken() error {
	failure := r.client.Failure()
	var wrong *wire.ProtocolError
	switch {
	case failure != nil && r.client.Ended():
		return fmt.Errorf("%w: %w", engine.ErrEnded, failure)
	case errors.As(failure, &wrong) && wrong.Form:
		return fmt.Errorf("%w, %s", engine.ErrForm, wrong.Reason)
	}
	return failure
}

// store empties the remote store and wraps it for testing.
func (r *remote) store() (*undertest.Store, error) {
	ctx := context.Background()
	r.now, _ = r.empty()
	d := r.first
	in := &undertest.Store{Provider: r.client, Methods: d.Methods, Sequential: !d.Overlapping, LongPolls: d.LongPolls, NoCancel: true, Second: remoteSecond, Broken: r.broken}
	in.NowMs = func() int64 { // a store with its own clock, whose time never decreases
		now, _ := r.client.Now(ctx)
		r.now = max(r.now, now)
		return r.now
	}
	if d.VirtualClock {
		in.NowMs = func() int64 { return r.now }
		in.Advance = func(by time.Duration) {
			_ = r.client.Advance(ctx, r.now, by.Milliseconds())
			r.now += by.Milliseconds()
		}
	}
	if d.CorruptEvent {
		in.CorruptHistory = r.corruptEvent
	}
	if d.CorruptMessage {
		in.CorruptMessage = r.corruptMessage
	}
	if d.Durable && r.again != nil {
		r.moment = cmp.Or(r.moment, 200*time.Microsecond)
		in.Restart, in.Kill = r.restart, r.killIn
	}
	if d.FailAckStep {
		in.FailAckStep = func(step int) { _ = r.client.FailAckStep(ctx, step) }
	}
	return in, r.broken()
}

func (r *remote) corruptEvent(instance string, execution, event uint64) error {
	return r.client.Damage(context.Background(), call.CorruptEvent{Instance: instance, ExecutionID: execution, EventID: event})
}

func (r *remote) corruptMessage(item engine.WorkItem) error {
	return r.client.Damage(context.Background(), call.CorruptMessage{Item: item})
}

// remoteSecond is the real duration of one second of a case on a store that has its own clock.
const remoteSecond = 250 * time.Millisecond

// leftOut lists the checks that are skipped because the other side does not support them.
func (r *remote) leftOut(report *search.Report) []string {
	out := []string{}
	for _, what := range report.LeftOut {
		if strings.HasPrefix(what, "methods") {
			out = append(out, what)
		}
	}
	d := r.first
	for _, what := range []struct {
		offered bool
		text    string
	}{
		{d.VirtualClock, "the passing of time: virtual_clock is false"},
		{d.CorruptEvent, "histories that cannot be decoded: corrupt_event is false"},
		{d.CorruptMessage, "messages that cannot be decoded: corrupt_message is false"},
		{d.Admin, "the management surface: admin is false"},
		{d.Durable || r.again == nil, "what a kill of the program leaves: durable is false"},
		{r.again != nil, "what a kill of the program leaves: a connection cannot kill it"},
	} {
		if !what.offered {
			out = append(out, what.text)
		}
	}
	return out
}

// stores manages the foreign stores used by runs. Each store is a process that serves a provider. A process serves one
// run at a time, so the number of processes equals the number of concurrent runs.
type stores struct {
	mu   sync.Mutex
	idle map[string][]*remote // idle processes, keyed by command line
	one  map[string]chan bool // of each durable program a place for the run that it serves: two processes would share a store
}

// storePatience is the maximum time that a store may take to answer a call during a run.
const storePatience = 10 * time.Second

// of returns a function that creates a run's store. The provider is served by the program in the command line. It returns
// nil for an empty one: the run then uses durosim's own store.
func (s *stores) of(line string) (func(startMs int64) (*cluster.ForeignStore, error), error) {
	if line == "" {
		return nil, nil
	}
	words, err := commandline.Split(line)
	if err == nil && len(words) == 0 {
		err = errors.New("expected a command")
	}
	if err != nil {
		return nil, fmt.Errorf("--provider %q: %w", line, err)
	}
	return func(startMs int64) (*cluster.ForeignStore, error) {
		peer, err := s.take(line, words, startMs)
		if err != nil {
			return nil, err
		}
		return s.store(line, peer), nil
	}, nil
}

// take returns a process with an empty store, whose clock is not ahead of startMs.
func (s *stores) take(line string, words []string, startMs int64) (peer *remote, err error) {
	place, err := s.place(line, words)
	if err != nil {
		return nil, err
	}
	if place != nil {
		<-place
		defer func() {
			if err != nil {
				place <- true
			}
		}()
	}
	s.mu.Lock()
	if n := len(s.idle[line]); n > 0 {
		peer = s.idle[line][n-1]
		s.idle[line] = s.idle[line][:n-1]
	}
	s.mu.Unlock()
	if peer != nil {
		if now, err := peer.empty(); err == nil && now <= startMs && peer.client.Described().VirtualClock {
			return peer, nil
		}
		_ = peer.stop() // its clock cannot be set back
	}
	if peer, err = start(words, storePatience); err != nil {
		return nil, err
	}
	now, err := peer.empty()
	switch {
	case err != nil:
	case !peer.client.Described().VirtualClock:
		err = errors.New("virtual_clock is false, but a cluster runs only in virtual time")
	case now > startMs && place != nil:
		err = fmt.Errorf("its clock shows %d after reset, but a run begins at %d: since the program is durable, reset must set its clock back", now, startMs)
	case now > startMs:
		err = fmt.Errorf("its clock shows %d at the start, but a run begins at %d", now, startMs)
	default:
		return peer, nil
	}
	_ = peer.stop()
	return nil, fmt.Errorf("%s: %w", line, err)
}

// place returns the place of a durable program, or nil. It starts a program that has not been asked yet.
func (s *stores) place(line string, words []string) (chan bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	place, asked := s.one[line]
	if asked {
		return place, nil
	}
	peer, err := start(words, storePatience)
	if err != nil {
		return nil, err
	}
	if peer.client.Described().Durable {
		place = make(chan bool, 1)
		place <- true
	}
	s.one[line], s.idle[line] = place, append(s.idle[line], peer)
	return place, nil
}

// empty clears the remote store and returns its clock's current time.
func (r *remote) empty() (int64, error) {
	if err := r.client.Reset(context.Background()); err != nil {
		return 0, err
	}
	return r.client.Now(context.Background())
}

// store lends a process's store to one run. After the run, the process becomes idle again.
func (s *stores) store(line string, peer *remote) *cluster.ForeignStore {
	ctx, d := context.Background(), peer.client.Described()
	out := &cluster.ForeignStore{
		Provider: peer.client, Broken: peer.broken,
		SetNow: func(ms int64) error { return peer.client.SetNow(ctx, ms) },
		Close: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if peer.client.Failure() != nil || s.idle == nil {
				_ = peer.stop()
			} else {
				s.idle[line] = append(s.idle[line], peer)
			}
			if place := s.one[line]; place != nil {
				place <- true
			}
		},
	}
	if d.CorruptEvent {
		out.CorruptEvent = peer.corruptEvent
	}
	if d.CorruptMessage {
		out.CorruptMessage = peer.corruptMessage
	}
	if d.FailAckStep {
		out.FailAckStep = func(step int) { _ = peer.client.FailAckStep(ctx, step) } // Broken reports any error
	}
	return out
}

func (s *stores) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.idle {
		for _, peer := range list {
			_ = peer.stop()
		}
	}
	s.idle = nil
}
