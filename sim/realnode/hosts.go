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

// Environment is the name of the environment variable for the directory of the host programs. If the variable is not
// set, a directory in the user's cache is used.
const Environment = "DUROSIM_HOSTS"

// Hosts starts nodes that run released runtimes. Each incarnation has its own process, so that a runtime's process-wide
// counters, such as the task counter, start afresh. Hosts is safe for concurrent use.
type Hosts struct {
	dir      string
	err      error // the reason why dir is unknown
	patience time.Duration
}

var _ cluster.Runtimes = (*Hosts)(nil)

// New returns a Hosts for the host programs in dir, which need not exist. A host that does not answer within a minute
// is considered to have failed.
func New(dir string) *Hosts {
	return &Hosts{dir: dir, patience: time.Minute}
}

// Releases starts nodes with the host programs in the directory in the environment variable Environment. If the variable is not set, the
// directory is in the user's cache directory and specific to the version of the hosts' sources.
func Releases() *Hosts {
	dir, err := os.Getenv(Environment), error(nil)
	if dir != "" {
		dir, err = filepath.Abs(dir)
	} else if dir, err = os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "durosim", "hosts", sourceDigest())
	}
	h := New(dir)
	if err != nil {
		h.err = fmt.Errorf("there is no directory for host programs unless %s names one: %w", Environment, err)
	}
	return h
}

// Program returns the path of b's host program, where Start looks for it.
func (h *Hosts) Program(b *engine.Build) string { return filepath.Join(h.dir, programName(b)) }

func programName(b *engine.Build) string {
	return "durosim-host-" + strings.ReplaceAll(strings.TrimPrefix(b.Release, engine.ReleasePrefix), ".", "-")
}

// Built reports whether b's host program exists.
func (h *Hosts) Built(b *engine.Build) bool {
	info, err := os.Stat(h.Program(b))
	return err == nil && info.Mode().IsRegular()
}

// Own returns the builds of unpublished crates whose host programs exist (BuildCrate), in the order of their programs.
func (h *Hosts) Own() (own []*engine.Build) {
	files, _ := filepath.Glob(filepath.Join(h.dir, "durosim-host-*-*-*-*")) // the pattern is valid
	for _, file := range files {
		name := strings.Replace(strings.TrimPrefix(filepath.Base(file), "durosim-host-"), "-", ".", 2)
		if b := engine.ReleasedBuild(name); b != nil && h.Program(b) == file && h.Built(b) {
			own = append(own, b)
		}
	}
	return own
}

// Check returns an error if b's host program does not exist. The error says how to build it.
func (h *Hosts) Check(b *engine.Build) error {
	switch {
	case h.err != nil:
		return h.err
	case !h.Built(b):
		name, of := strings.TrimPrefix(b.Release, engine.ReleasePrefix), ""
		if name != b.Version.String() {
			of = " --crate DIRECTORY --as " + name
		}
		return fmt.Errorf("a node runs duroxide %s, which needs a host program, but %s does not exist. With cargo installed, build it with:\n    simrun hosts build%s",
			name, h.Program(b), of)
	}
	return nil
}

// Start starts a node's host program and returns a machine that controls it.
func (h *Hosts) Start(c cluster.MachineConfig) (cluster.Machine, error) {
	if err := h.Check(c.Build); err != nil {
		return nil, err
	}
	host, err := startHost(h.Program(c.Build), c.Build.Version.String(), h.patience)
	if err != nil {
		return nil, err
	}
	return newMachine(host, c), nil
}
