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

// Hosts starts nodes of released runtimes, each incarnation in a process of its own: what a runtime counts for its whole
// process, such as tasks, begins anew then. It may be used by many goroutines.
type Hosts struct {
	dir      string
	patience time.Duration
}

var _ cluster.Releases = (*Hosts)(nil)

// New are the host programs of a directory; an empty name is none. A host that does not answer within a minute has failed.
func New(dir string) *Hosts {
	return &Hosts{dir: dir, patience: time.Minute}
}

// program is the host program of a release.
func (h *Hosts) program(b *engine.Build) string {
	return filepath.Join(h.dir, "durosim-host-"+strings.ReplaceAll(b.Version.String(), ".", "-"))
}

// Check says whether there is a host program for a released build, and if not, how to build it.
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

// Start starts a node.
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
