package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/foreign"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
)

// remote is a provider in another process, or at a network address.
type remote struct {
	stop func() error
	// abandon kills the process or closes the connection without waiting for it to finish.
	abandon func() error
	client  *wire.Client
	now     int64
	err     error // the first error from a call outside the provider interface
}

// provider selects the provider to check: a child process or a server at an address.
type provider struct {
	Command []string `arg:"" optional:"" help:"The program that serves the provider on its standard input and output, with its arguments, after --."`
	Connect address  `help:"The address at which the provider listens, instead of a program: unix:PATH or tcp:HOST:PORT." placeholder:"ADDRESS"`

	contractFlag
}

// contractFlag is the flag for checking a provider against a particular release's contract.
type contractFlag struct {
	Contract string `help:"The release whose contract holds where 0.1.26 and 0.1.32 differ; if not given, everything that either allows is allowed. See docs/contract-decisions.md." placeholder:"RELEASE"`
}

// denied returns the freedoms that the selected contract denies.
func (c contractFlag) denied() ([]oracle.Freedom, error) {
	denied, err := oracle.Denied(c.Contract)
	if err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	return denied, nil
}

// name returns the provider's name for use in messages.
func (p *provider) name() string {
	if p.Connect.network != "" {
		return p.Connect.String()
	}
	return strings.Join(p.Command, " ")
}

// arguments returns command-line arguments that select the same provider.
func (p *provider) arguments() []string {
	var words []string
	if p.Contract != "" {
		words = append(words, "--contract", p.Contract)
	}
	if p.Connect.network != "" {
		return append(words, "--connect", p.Connect.String())
	}
	return append(words, append([]string{"--"}, p.Command...)...)
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
	return &remote{stop: conn.Close, abandon: conn.Close, client: client}, nil
}

func start(command []string, patience time.Duration) (*remote, error) {
	process, err := foreign.Start(command[0], command[1:]...)
	if err != nil {
		return nil, err
	}
	client, err := wire.Dial(context.Background(), process, wire.ClientOptions{
		Patience: patience,
		Became:   func() string { return process.Describe(100 * time.Millisecond) },
	})
	if err != nil {
		_ = process.Stop(0) // it does not speak the protocol, so how it exits does not matter
		return nil, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return &remote{stop: func() error { return process.Stop(stopPatience) }, abandon: func() error { return process.Stop(0) }, client: client}, nil
}

// keep records the first error from a call outside the provider interface.
func (r *remote) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *remote) broken() error {
	switch err := r.client.Failure(); {
	case err != nil && r.client.Ended():
		return fmt.Errorf("%w: %w", undertest.ErrEnded, err)
	case err != nil:
		return err
	}
	return r.err
}

// store empties the remote store and wraps it for testing.
func (r *remote) store() (*undertest.Store, error) {
	ctx := context.Background()
	r.keep(r.client.Reset(ctx))
	now, err := r.client.Now(ctx)
	r.keep(err)
	r.now = now
	in := &undertest.Store{Provider: r.client, Methods: r.client.Described().Methods, Sequential: !r.client.Described().Overlapping,
		LongPolls: r.client.Described().LongPolls, Second: remoteSecond, Broken: r.broken, NowMs: r.realNow}
	if r.client.Described().VirtualClock {
		in.NowMs = func() int64 { return r.now }
		in.Advance = func(d time.Duration) {
			now, err := r.client.Advance(ctx, d.Milliseconds())
			r.keep(err)
			if want := r.now + d.Milliseconds(); err == nil && now != want {
				r.keep(fmt.Errorf("clock_advance: the clock shows %d, %d ms after %d", now, d.Milliseconds(), r.now))
			}
			r.now += d.Milliseconds()
		}
	}
	if r.client.Described().CorruptEvent {
		in.CorruptHistory = func(instance string, execution, event uint64) error {
			return r.client.CorruptEvent(ctx, call.CorruptEvent{Instance: instance, ExecutionID: execution, EventID: event})
		}
	}
	if r.client.Described().CorruptMessage {
		in.CorruptMessage = func(item engine.WorkItem) error {
			return r.client.CorruptMessage(ctx, call.CorruptMessage{Item: item})
		}
	}
	if r.client.Described().FailAckStep {
		in.FailAckStep = func(step int) { r.keep(r.client.FailAckStep(ctx, step)) }
	}
	return in, r.broken()
}

// realNow returns the current time of a store that has its own clock. The time never decreases.
func (r *remote) realNow() int64 {
	now, err := r.client.Now(context.Background())
	r.keep(err)
	r.now = max(r.now, now)
	return r.now
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
	d := r.client.Described()
	for _, what := range []struct {
		offered bool
		text    string
	}{
		{d.VirtualClock, "the passing of time: virtual_clock is false"},
		{d.CorruptEvent, "histories that cannot be decoded: corrupt_event is false"},
		{d.CorruptMessage, "messages that cannot be decoded: corrupt_message is false"},
		{d.Admin, "the management surface: admin is false"},
	} {
		if !what.offered {
			out = append(out, what.text)
		}
	}
	return out
}
