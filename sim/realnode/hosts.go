package realnode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// Environment is the variable that names the directory of the host programs.
const Environment = "DUROSIM_HOSTS"

// Hosts starts nodes of released runtimes, each incarnation in a process of its own, so that counters that a runtime keeps
// for its whole process, such as that of tasks, start afresh. It is safe for concurrent use.
type Hosts struct {
	dir      string
	patience time.Duration
}

var _ cluster.Releases = (*Hosts)(nil)

// New returns the Hosts for the host programs in a directory; with an empty name there are none. A host that does not
// answer within a minute has failed.
func New(dir string) *Hosts {
	return &Hosts{dir: dir, patience: time.Minute}
}

// program returns the path of the host program of a release.
func (h *Hosts) program(b *engine.Build) string {
	return filepath.Join(h.dir, "durosim-host-"+strings.ReplaceAll(b.Version.String(), ".", "-"))
}

// Check returns an error if there is no host program for a released build; the error says how to build it.
func (h *Hosts) Check(b *engine.Build) error {
	why := "the environment variable " + Environment + " is not set"
	if h.dir != "" {
		_, err := os.Stat(h.program(b))
		if err == nil {
			return nil
		}
		why = "there is no " + h.program(b)
	}
	return fmt.Errorf("a node runs duroxide %s, which needs a host program, and %s. In the module's source, with cargo:\n"+
		"    cargo build --release --locked --target-dir hosts --manifest-path sim/realnode/host/%s/Cargo.toml\n"+
		"    export %s=$PWD/hosts/release", b.Version, why, b.Release, Environment)
}

// Start starts a host program for a node and returns the node's machine.
func (h *Hosts) Start(c cluster.ReleasedConfig) (cluster.ReleasedMachine, error) {
	if err := h.Check(c.Build); err != nil {
		return nil, err
	}
	host, err := startHost(h.program(c.Build), c.Build.Version.String(), h.patience)
	if err != nil {
		return nil, err
	}
	return newMachine(host, c), nil
}
