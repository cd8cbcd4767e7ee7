package command

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
)

// TestOracleStops checks that a search that stops early reports its results and ends with the command that runs the
// rest.
func TestOracleStops(t *testing.T) {
	interrupt := func() error {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Signal(os.Interrupt)
	}
	for _, c := range []struct {
		name   string
		bug    faults.BugID
		at     int64 // the number of the store at which it stops
		how    func() error
		args   []string
		status int
		want   []string
	}{
		{"no answer", "", 9, func() error { return errors.New("the disk is full") }, []string{"--seeds", "5..50", "--deny", "F9", "--keep-going"}, exitUsage, []string{
			`(?m)^sequences +6 +of 46, from seed 5 on; no verdict on seed 11: reset: .*the disk is full`,
			`(?m)^passed +6 `,
			`(?m)^To continue with the other seeds:\n.* oracle --connect unix:\S+ --seeds 11\.\.50 --timeout 10s --deny F9 --keep-going$`,
		}},
		{"interrupted", "", 9, interrupt, []string{"--seeds", "1000000"}, exitStopped, []string{
			`(?m)^sequences +[0-9]+ +of 1,000,000, from seed 1 on; interrupted$`,
			`(?m)^To continue with the other seeds:\n.* oracle --connect unix:\S+ --seeds [0-9]+\.\.1000000 --timeout 10s$`,
		}},
		{"while a story is made shorter", "provider/ack-partial", 40, func() error { return errors.New("the disk is full") }, []string{"--keep-going", "--json"}, exitSafety, []string{
			`"made": [0-9]+,`, `"transcript": \[\n +"it could not be made shorter: reset: .*the disk is full`, `"no_verdict": "no verdict on seed [0-9]+: reset: `,
			`"go_on": ".* oracle --connect unix:\S+ --seeds [0-9]+\.\.1000 --timeout 10s --keep-going --json"`, `"exit_status": 1`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append(append([]string{"oracle"}, c.args...), "--connect", "unix:"+serveOnce(t, c.bug, c.at, c.how))
			if status := (Program{}).Run(args, &stdout, &stderr); status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, want := range c.want {
				if !regexp.MustCompile(want).MatchString(stdout.String()) {
					t.Errorf("no %q", want)
				}
			}
			if t.Failed() {
				t.Logf("%s%s", &stdout, &stderr)
			}
		})
	}
}

// serveOnce serves one connection on a socket. When it comes to the store with the number at, it calls instead.
func serveOnce(t *testing.T, bug faults.BugID, at int64, instead func() error) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "socket")
	listener := sample.Must(net.Listen("unix", path))(t)
	var set []faults.BugID
	if bug != "" {
		set = append(set, bug)
	}
	rules := sample.Must(faults.NewTables(set...))(t)
	var made atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return // the command has already reported why it did not connect
		}
		defer conn.Close()
		server := &wire.Server{New: func() (*wire.Store, error) {
			if made.Add(1) == at {
				if err := instead(); err != nil {
					return nil, err
				}
			}
			return wire.NewStore(wire.StoreOptions{Rules: rules.Provider}), nil
		}}
		_ = server.Serve(t.Context(), conn, conn) // a broken connection affects only the other side
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return path
}
