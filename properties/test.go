package properties

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// Config selects what Test runs. The zero value runs the default scenario with the shipped builds and handlers.
type Config struct {
	// Scenario is the name of a scenario that comes with the module, or the path of a scenario file, or, if it has
	// more than one line, the text of a scenario. Empty means scenario.Default.
	Scenario string
	// Plan, if not nil, makes the plan of each seed, in place of Scenario. It must depend on the seed alone. Several
	// goroutines call it at once.
	Plan func(seed uint64) (*plan.Plan, error)
	// Stored is the text of a stored run, which Test replays in place of Scenario; it fails if the run violates anything.
	// simrun export writes such tests.
	Stored string
	// Overrides are settings that replace those of Scenario: the fault load, for instance.
	Overrides scenario.Overrides
	// Seeds is the number of seeds to run, from First on; 0 means 100. First 0 means 1.
	Seeds, First uint64
	// Builds and Handlers provide what plans may name, as in cluster.Config; nil means the shipped ones. Each run or
	// node calls them anew, several goroutines at once, and they must always give the same result.
	Builds   func() []*engine.Build
	Handlers func(r *node.Registry, b *engine.Build) error
	// Store, if not nil, makes the store of each run, in place of durosim's own, as in cluster.Config. Several
	// goroutines call it at once; it gives each run a store of its own.
	Store func(startMs int64) (*cluster.ForeignStore, error)
	// EachRun, if not nil, is called at the beginning of each run, by several goroutines at once. It returns what
	// belongs to that run alone: handlers with state, and the caller's own invariants and monitors.
	EachRun func() Run
	// Properties lists the ids of Catalogue to check; nil means all.
	Properties []string
	// DoubleCheck computes every turn twice. A nondeterministic handler is then reported at the first turn that
	// differs, instead of later, when its history no longer fits.
	DoubleCheck bool
	// Chooser names the chooser, by a name of sim.NamedChooser, that makes the choices that a plan leaves open; empty
	// means random.
	Chooser string
	// ShrinkRuns bounds the runs that shrinking a failure may take; 0 means shrink.DefaultRuns.
	ShrinkRuns int
	// Workers is the number of seeds that run at once; 0 means one for each core. Findings do not depend on it.
	Workers int
}

// defaultSeeds is the number of seeds that Test runs by default.
const defaultSeeds = 100

// T is the part of *testing.T that Test needs.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// The environment variables that Test reads. Apart from the command line, no other code of this module reads the
// environment.
const (
	// EnvSeed is one seed, decimal or 0x-hex: Test runs only this one.
	EnvSeed = "DUROSIM_SEED"
	// EnvPlan is a file with a stored run or a scenario, which Test runs in place of the configured one. Its path is
	// relative to the package's directory or to the module's root.
	EnvPlan = "DUROSIM_PLAN"
	// EnvHTML is a file into which Test writes a page that shows the run of the first seed that fails, or of the
	// first seed if none fails (docs/see-a-run.md). Its path is relative to the package's directory.
	EnvHTML = "DUROSIM_HTML"
)

// Test runs a scenario over many seeds with every property checked, and fails the test at the first seed that
// violates one. The failure is shrunk and reported with the rule, the evidence, the smallest plan, and a stored run
// to keep; its last line is a command that reproduces it from anywhere in the module.
//
// Seeds are taken in order, so that the same code fails at the same seed on every machine. A seed that gives two
// different runs is reported as such: the cause is a nondeterministic handler or a defect of durosim.
func Test(t T, c Config) {
	t.Helper()
	env := environment{seed: os.Getenv(EnvSeed), plan: os.Getenv(EnvPlan)}
	run, err := c.prepare(env)
	if err != nil {
		t.Fatalf("durosim: %v", err)
		return
	}
	run.command = command(t.Name(), env, packageUnderTest())
	for _, w := range run.warnings {
		t.Logf("durosim: warning: %v", w)
	}
	if file := os.Getenv(EnvHTML); file != "" {
		run.draw = func(page []byte) error { return os.WriteFile(file, page, 0o644) }
	}
	report, failed := run.carryOut()
	switch {
	case failed:
		t.Fatalf("%s", report)
	default:
		t.Logf("%s", report)
	}
}

// environment holds the values of the environment variables.
type environment struct{ seed, plan string }

// packageUnderTest returns the import path of the package in whose directory go test runs.
func packageUnderTest() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return commandline.PackageIn(dir)
}

// readInput reads a file. The name is relative to the package's directory or to the module's root.
func readInput(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err == nil || filepath.IsAbs(name) || !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if dir, wdErr := os.Getwd(); wdErr == nil {
		if root, _, ok := commandline.Module(dir); ok {
			if data, rootErr := os.ReadFile(filepath.Join(root, name)); rootErr == nil {
				return data, nil
			}
		}
	}
	return nil, err
}

// parseSeed reads a seed, decimal or 0x-hex.
func parseSeed(text string) (uint64, error) {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	}
	seed, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%s: expected a seed, decimal or 0x-hex, of at most 64 bits", EnvSeed, text)
	}
	return seed, nil
}
