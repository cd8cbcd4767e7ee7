package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/foreign"
	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
)

// oracleCmd is the verb oracle: a provider in any language, checked against the contract.
type oracleCmd struct {
	Command []string `arg:"" help:"The program that serves the provider on its standard input and output, with its arguments, behind --."`

	Seed    *seed         `help:"Make the sequence of this seed only." placeholder:"N" xor:"seeds"`
	Seeds   *seedRange    `help:"Make this many sequences, or those of a range of seeds such as 5..9; 1,000 if not given." placeholder:"N|A..B" xor:"seeds"`
	Timeout time.Duration `help:"How long one answer may take." default:"10s"`
	JSON    bool          `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help is printed below the flags.
func (oracleCmd) Help() string {
	return `Starts a program that offers a storage provider over JSON-RPC (docs/oracle-protocol.md), makes random sequences of calls on it, time included, and compares each answer with the contract. The first sequence with an answer that the contract does not allow is made short, and shown with what would have been allowed.

Examples:

    simrun oracle -- python3 provider.py
    simrun oracle --seeds 20000 --timeout 30s -- ./provider --in-memory
    simrun oracle --seed 17 -- simrun serve --bug provider/filter-ignored

Exit status: 0 nothing found, 1 an answer is not allowed, 2 usage, or the program does not speak the protocol.`
}

// stopPatience is how long a provider may take to end when its input has ended.
const stopPatience = 5 * time.Second

// oracleJSON is what oracle --json prints.
type oracleJSON struct {
	Schema     int          `json:"schema"`
	Verb       string       `json:"verb"`
	Provider   string       `json:"provider"`
	Version    string       `json:"version"`
	LeftOut    []string     `json:"left_out"`
	FirstSeed  string       `json:"first_seed"`
	Seeds      uint64       `json:"seeds"`
	Passed     uint64       `json:"passed"`
	Finding    *findingJSON `json:"finding"`
	ExitStatus int          `json:"exit_status"`
}

type findingJSON struct {
	Seed       string   `json:"seed"`
	Calls      int      `json:"calls"`
	Refusal    string   `json:"refusal"`
	Transcript []string `json:"transcript"`
	Repro      string   `json:"repro"`
}

func (c *oracleCmd) run(a *app) (status int, err error) {
	seeds := seedRange{first: 1, count: 1000}
	switch {
	case c.Seed != nil:
		seeds = seedRange{uint64(*c.Seed), 1}
	case c.Seeds != nil:
		seeds = *c.Seeds
	}
	if c.Timeout <= 0 {
		return 0, fmt.Errorf("--timeout %v: expected more than nothing", c.Timeout)
	}
	peer, err := dial(c.Command, c.Timeout)
	if err != nil {
		return 0, err
	}
	defer peer.process.Stop(stopPatience)
	bar := newProgress(a.stderr, "sequences", seeds.count)
	defer bar.clear()
	passed := uint64(0)
	finding, err := search.Search(undertest.Factory{New: peer.store}, search.Options{First: seeds.first, Sequences: int(seeds.count), Done: func() {
		passed++
		bar.show(passed, 0)
	}})
	if err != nil {
		return 0, fmt.Errorf("%s: no verdict after %d sequences: %w", strings.Join(c.Command, " "), passed, err)
	}
	bar.clear()
	d := peer.client.Described()
	out := oracleJSON{Schema: schema, Verb: "oracle", Provider: d.Name, Version: d.Version, LeftOut: peer.leftOut(),
		FirstSeed: strconv.FormatUint(seeds.first, 10), Seeds: seeds.count, Passed: passed}
	if finding != nil {
		out.ExitStatus = exitSafety
		out.Finding = &findingJSON{Seed: strconv.FormatUint(finding.Seed, 10), Calls: finding.Refusal.Number, Refusal: finding.Refusal.Error(),
			Transcript: finding.Transcript, Repro: c.repro(finding.Seed)}
	}
	if c.JSON {
		return out.ExitStatus, a.writeJSON(out)
	}
	a.printOracle(&out)
	return out.ExitStatus, nil
}

func (c *oracleCmd) repro(seed uint64) string {
	return itself(append([]string{"oracle", "--seed", decimal(seed), "--"}, c.Command...)...)
}

func (a *app) printOracle(o *oracleJSON) {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "%s\t%s %s\n", a.style.quiet("provider"), o.Provider, o.Version)
	fmt.Fprintf(t, "%s\t%s\tfrom seed %s on\n", a.style.quiet("sequences"), grouped(o.Seeds), o.FirstSeed)
	fmt.Fprintf(t, "%s\t%s\t%s\n", a.style.quiet("passed"), grouped(o.Passed), passedNote(o))
	for _, left := range o.LeftOut {
		fmt.Fprintf(t, "%s\t%s\n", a.style.quiet("left out"), left)
	}
	flushTable(t)
	if f := o.Finding; f != nil {
		a.printf("\nREFUSED  seed %s; the shortest sequence of calls:\n\n", f.Seed)
		for _, line := range f.Transcript {
			a.printf("%s\n", line)
		}
		a.printf("%s\n\n%s\n", f.Refusal, f.Repro)
	}
}

func passedNote(o *oracleJSON) string {
	if o.Finding != nil {
		return "stopped at the first answer that is not allowed"
	}
	return "every answer is one that the contract allows"
}

// remote is a provider in a child process.
type remote struct {
	process *foreign.Process
	client  *wire.Client
	now     int64
	err     error // of a call that is not the provider's
}

func dial(command []string, patience time.Duration) (*remote, error) {
	process, err := foreign.Start(command[0], command[1:]...)
	if err != nil {
		return nil, err
	}
	client, err := wire.Dial(context.Background(), process, wire.ClientOptions{
		Patience: patience,
		Became:   func() string { return process.Describe(100 * time.Millisecond) },
	})
	if err != nil {
		_ = process.Stop(0) // it does not speak the protocol; how it ends is no matter
		return nil, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return &remote{process: process, client: client}, nil
}

// keep keeps the first error of a call that is not the provider's.
func (r *remote) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *remote) broken() error {
	if err := r.client.Failure(); err != nil {
		return err
	}
	return r.err
}

// store makes the other side's store an empty one.
func (r *remote) store() (*undertest.Store, error) {
	ctx := context.Background()
	r.keep(r.client.Reset(ctx))
	now, err := r.client.Now(ctx)
	r.keep(err)
	r.now = now
	in := &undertest.Store{Provider: r.client, Broken: r.broken, NowMs: r.realNow}
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
	return in, r.broken()
}

// realNow asks a store that follows a clock of its own.
func (r *remote) realNow() int64 {
	now, err := r.client.Now(context.Background())
	r.keep(err)
	r.now = max(r.now, now)
	return r.now
}

// leftOut names what is not checked since the other side does not offer it.
func (r *remote) leftOut() []string {
	out := []string{}
	d := r.client.Described()
	for _, what := range []struct {
		offered bool
		text    string
	}{
		{d.VirtualClock, "the passing of time: virtual_clock is false"},
		{d.CorruptEvent, "histories that cannot be decoded: corrupt_event is false"},
		{d.Admin, "the management surface: admin is false"},
	} {
		if !what.offered {
			out = append(out, what.text)
		}
	}
	return out
}
