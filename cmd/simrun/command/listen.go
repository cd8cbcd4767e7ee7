package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
)

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
