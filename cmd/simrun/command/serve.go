package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
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

func (c *serveCmd) run(a *app) (int, error) {
	if c.Schema {
		text, err := wire.Schema()
		a.printf("%s", text)
		return exitOK, err
	}
	var set []faults.BugID
	for _, id := range c.Bug {
		if !slices.ContainsFunc(faults.BugsOf("memprovider"), func(b faults.Bug) bool { return string(b.ID) == id }) {
			return 0, fmt.Errorf("--bug %q: no bug of the in-memory provider has this name%s; %s lists all", id, nearBug(id, faults.BugsOf("memprovider")), a.program.hint("list bugs"))
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
	return exitOK, server().Serve(context.Background(), os.Stdin, unbuffered{a})
}

// server returns a server for in-memory stores that follow rules. If rules is nil, the stores follow the correct rules.
func (c *serveCmd) server(rules *memprovider.Rules) *wire.Server {
	return &wire.Server{Overlapping: c.Live, New: func() (*wire.Store, error) {
		return wire.NewStore(wire.StoreOptions{Rules: rules, Live: c.Live, Faults: levels[c.Faults], Seed: uint64(c.Seed)}), nil
	}}
}

var levels = map[string]faults.Plan{"none": faults.None(), "light": faults.Light(), "full": faults.Full()}

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
