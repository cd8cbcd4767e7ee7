package realnode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/released"
)

// Environment is the variable that names the directory of the host programs, in place of the user's cache.
const Environment = "DUROSIM_HOSTS"

// Hosts starts nodes of released runtimes. Each incarnation has its own process, so that process-wide counters of a
// runtime, such as the task counter, restart. Hosts is safe for concurrent use.
type Hosts struct {
	dir      string
	err      error // why there is no directory
	patience time.Duration
}

var _ released.Runtimes = (*Hosts)(nil)

// New returns the Hosts for the host programs in a directory, which need not exist. A host that does not answer within
// a minute counts as failed.
func New(dir string) *Hosts {
	return &Hosts{dir: dir, patience: time.Minute}
}

// Default returns the Hosts for the directory that Environment names. If the variable is not set, it uses a
// subdirectory of the user's cache directory that is specific to the state of the hosts' sources.
func Default() *Hosts {
	dir, err := os.Getenv(Environment), error(nil)
	if dir != "" {
		dir, err = filepath.Abs(dir)
	} else if dir, err = os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "durosim", "hosts", sourceDigest())
	}
	h := New(dir)
	if err != nil {
		h.err = fmt.Errorf("there is no place for host programs, unless %s names one: %w", Environment, err)
	}
	return h
}

// Program returns the path where Start looks for the host program of a released build.
func (h *Hosts) Program(b *engine.Build) string { return filepath.Join(h.dir, programName(b)) }

func programName(b *engine.Build) string {
	return "durosim-host-" + strings.ReplaceAll(b.Version.String(), ".", "-")
}

// Built reports whether the host program of a released build exists.
func (h *Hosts) Built(b *engine.Build) bool {
	info, err := os.Stat(h.Program(b))
	return err == nil && info.Mode().IsRegular()
}

// Check returns an error if there is no host program for a released build; the error says how to build it.
func (h *Hosts) Check(b *engine.Build) error {
	switch {
	case h.err != nil:
		return h.err
	case !h.Built(b):
		return fmt.Errorf("a node runs duroxide %s, which needs a host program, and there is no %s. With cargo installed, this builds it:\n    simrun hosts build",
			b.Version, h.Program(b))
	}
	return nil
}

// Start starts a host program for a node and returns the node's machine.
func (h *Hosts) Start(c released.Config) (released.Machine, error) {
	if err := h.Check(c.Build); err != nil {
		return nil, err
	}
	host, err := startHost(h.Program(c.Build), c.Build.Version.String(), h.patience)
	if err != nil {
		return nil, err
	}
	return newMachine(host, c), nil
}
