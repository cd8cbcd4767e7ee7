package command

import (
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/internal/sample"
)

// TestListen checks that a provider at an address can be checked just like a child process, over either kind of
// network, and that the server stops when its input ends.
func TestListen(t *testing.T) {
	for _, at := range []string{"tcp:127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "socket")} {
		var where address
		sample.OK(t, where.UnmarshalText([]byte(at)))
		in, end := io.Pipe()
		said, out := io.Pipe()
		served := make(chan error, 1)
		a := &app{program: &Program{}, stdout: bufio.NewWriter(out)}
		go func() { served <- a.listen(where, in, func() *wire.Server { return (&serveCmd{}).server(nil) }) }()
		line := sample.Must(bufio.NewReader(said).ReadString('\n'))(t)
		address := strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
		for _, verb := range [][]string{{"conformance", "--run", "AT-"}, {"oracle", "--seeds", "20"}} {
			var stdout, stderr bytes.Buffer
			args := append(verb, "--connect", address)
			if status := (Program{}).Run(args, &stdout, &stderr); status != exitOK || !strings.Contains(stdout.String(), "memprovider") {
				t.Errorf("%v: status %d\n%s%s", args, status, stdout.String(), stderr.String())
			}
		}
		sample.OK(t, end.Close())
		if err := <-served; err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// TestAddresses checks the errors for invalid addresses and for a provider that is given twice.
func TestAddresses(t *testing.T) {
	for want, args := range map[string][]string{
		"expected unix:PATH or tcp:HOST:PORT": {"oracle", "--connect", "udp:1"},
		"no provider":                         {"oracle"},
		"give either a program or --connect":  {"conformance", "--connect", "tcp:127.0.0.1:1", "--", "x"},
		"--connect: dial":                     {"conformance", "--connect", "unix:" + filepath.Join(t.TempDir(), "nobody")},
		"--listen: listen":                    {"serve", "--listen", "unix:" + filepath.Join(t.TempDir(), "no", "where")},
	} {
		var stdout, stderr bytes.Buffer
		if status := (Program{}).Run(args, &stdout, &stderr); status != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: status %d, %q; want %q", args, status, stderr.String(), want)
		}
	}
}
