package durosim

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// Config configures Test. The zero value runs the default scenario with the shipped builds and handlers.
type Config struct {
	// Scenario is the name of a built-in scenario, the path of a scenario file, or, if it has more than one line, the
	// text of a scenario. Empty means scenario.Default.
	Scenario string
	// Plan, if not nil, makes the plan for each seed; Scenario must then be empty. The plan must depend only on the seed.
	// Plan is called from several goroutines at once.
	Plan func(seed uint64) (*plan.Plan, error)
	// Stored is the text of a stored run, which Test replays instead of Scenario. The test fails if the run violates
	// anything. `simrun export` writes tests of this kind.
	Stored string
	// Input, if not nil, makes the input of each instance of Scenario from the one that is written or drawn there, such as
	// an order from its number. It must depend on its arguments alone.
	Input func(orchestration, input string) string
	// Overrides replaces settings of Scenario, such as the fault load.
	Overrides scenario.Overrides
	// Seeds is the number of seeds to run, starting at First. If Seeds is 0, Test runs 100; if First is 0, it starts at
	// 1.
	Seeds, First uint64
	// Applications are the versions of the code under test, on every shipped runtime. If the handlers share state with
	// invariants, EachRun returns them instead.
	Applications []Application
	// Builds and Handlers provide what plans may name if the builds are to be made otherwise, as in cluster.Config; nil
	// means the shipped ones. They are called for each run or node, from several goroutines at once, and must always give
	// the same result. Without applications, a Scenario that is not built in needs Handlers if Builds or EachRun is set:
	// its orchestrations are hardly durosim's own.
	Builds   func() []*engine.Build
	Handlers func(r *node.Registry, b *engine.Build) error
	// Store, if not nil, makes the store of each run, instead of durosim's own, as in cluster.Config. It is called from
	// several goroutines at once and must return a separate store each time.
	Store func(startMs int64) (*cluster.ForeignStore, error)
	// EachRun, if not nil, is called at the start of each run, from several goroutines at once. It returns what belongs
	// to that run alone: handlers with state, and the caller's own invariants and monitors.
	EachRun func() Run
	// Properties lists the IDs of the properties to check, beside those of EachRun, as in properties.Catalogue; nil means
	// all. What ends otherwise than planned fails the test only if "outcome" is among them.
	Properties []string
	// DoubleCheck computes every turn twice, so a nondeterministic handler is reported at the first turn that differs.
	// Otherwise it is reported only later, when its history no longer fits.
	DoubleCheck bool
	// Rate makes Test run all seeds though one fails, and report for each violated property in how many of them.
	Rate bool
	// Chooser names the sim.NamedChooser that makes the choices a plan leaves open. Empty means random.
	Chooser string
	// ShrinkRuns limits how many runs it may take to shrink a failure; 0 means shrink.DefaultRuns.
	ShrinkRuns int
	// Workers is the number of seeds that run at once; 0 means one per core. It does not affect what is found.
	Workers int
}

// defaultSeeds is how many seeds Test runs by default.
const defaultSeeds = 100

// T is the part of *testing.T that Test needs.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// These are the environment variables that Test reads. Apart from the command line, and from what says otherwise, no other
// code in this module reads the environment.
const (
	// EnvSeed is the only seed that Test runs, in decimal or 0x-prefixed hexadecimal.
	EnvSeed = "DUROSIM_SEED"
	// EnvPlan is a file with a stored run or a scenario, which Test runs instead of the configured one. A relative path
	// is looked up in the package's directory and in the module's root.
	EnvPlan = "DUROSIM_PLAN"
	// EnvHTML is the file to which Test writes a page that shows the smallest failing run, or the run of the first seed if
	// none fails, or the stored run (docs/reading-a-failure.md#see-a-run). A relative path starts at the package's directory.
	EnvHTML = "DUROSIM_HTML"
	// EnvHistories is the directory to which Test writes the histories of its first seed's run, for orchtest.CheckHistories.
	EnvHistories = "DUROSIM_HISTORIES"
	// EnvDoubleCheck, if it is 1 or what else strconv.ParseBool takes for true, sets Config.DoubleCheck.
	EnvDoubleCheck = "DUROSIM_DOUBLE_CHECK"
	// EnvVerify is how many other futures of a stored run, or of the plan that the last failure has left in
	// testdata/durosim, are tried once it passes: its choices are drawn anew from steps all over it.
	EnvVerify = "DUROSIM_VERIFY"
	// EnvTurnLimit is for how long code may run without calling its Context or returning, such as 10s: in real time if it
	// blocks, in processor time if it runs on. The default is one second; 0 means no limit. Code that takes longer ends
	// its run. Package orchtest and the command read it, too.
	EnvTurnLimit = watchdog.Env
	// EnvShrink is how much real time the search for the smallest plan may take, such as 5m. The default is 30s, or what
	// is left until the test's deadline; 0 means no limit. It decides how small the plan is, not whether a test fails. The
	// command reads it, too.
	EnvShrink = watchdog.EnvShrink
)

// Test runs a scenario over many seeds, checks every property, and fails the test at the first seed that violates one.
// It shrinks the failure and reports the rule, the evidence, the smallest plan, and a stored run to keep. The last line
// of the report is a command that reproduces the failure from anywhere in the module.
//
// Seeds run in order, so the same code fails at the same seed on every machine. If a seed gives two different runs,
// Test reports that instead; the cause is a nondeterministic handler or activity, or a bug in durosim.
func Test(t T, c Config) {
	t.Helper()
	env := environment{seed: os.Getenv(EnvSeed), plan: os.Getenv(EnvPlan)}
	double, err := strconv.ParseBool(cmp.Or(os.Getenv(EnvDoubleCheck), "0"))
	if err != nil {
		t.Fatalf("durosim: %s=%s: expected 1 or 0", EnvDoubleCheck, os.Getenv(EnvDoubleCheck))
		return
	}
	c.DoubleCheck = c.DoubleCheck || double
	run, err := c.prepare(env)
	if err != nil {
		t.Fatalf("durosim: %v", err)
		return
	}
	search, err := watchdog.NewSearch(t)
	if err != nil {
		t.Fatalf("durosim: %v", err)
		return
	}
	run.search, run.logf = search, t.Logf
	if verify := os.Getenv(EnvVerify); verify != "" {
		if run.verify, err = strconv.ParseUint(verify, 10, 32); err != nil {
			t.Fatalf("durosim: %s=%s: expected a number of runs, such as 1000", EnvVerify, verify)
			return
		}
	}
	if env == (environment{}) && run.entry == nil {
		run.kept = keptFile(t)
	}
	run.command = command(t.Name(), env, packageUnderTest())
	for _, w := range run.warnings {
		t.Logf("durosim: warning: %v", w)
	}
	if dir := os.Getenv(EnvHistories); dir != "" {
		run.write = func(name string, data []byte) error {
			return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), data, 0o644))
		}
	}
	if file := os.Getenv(EnvHTML); file != "" {
		run.draw = func(page []byte) error { return os.WriteFile(file, page, 0o644) }
	}
	began := time.Now()
	report, failed := run.carryOut()
	if !failed && run.entry == nil {
		report += budget(t, run.c.Seeds, began)
	}
	switch {
	case failed:
		t.Fatalf("%s", report)
	default:
		t.Logf("%s", report)
	}
}

// budget says how many seeds fit into the time that go test gives, at the pace of those that have run.
func budget(t T, seeds uint64, began time.Time) string {
	timed, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return ""
	}
	deadline, ok := timed.Deadline()
	took, given := time.Since(began), deadline.Sub(began)
	if !ok || took <= 0 || given <= took {
		return ""
	}
	fit := seeds * uint64(given.Milliseconds()) / uint64(max(1, took.Milliseconds()))
	return fmt.Sprintf("\n%d seeds took %v; the %v of go test -timeout are for about %s",
		seeds, took.Round(time.Millisecond), given.Round(time.Second), pretty.Count(fit-fit%max(1, fit/20)))
}

// environment holds the values of the environment variables that Test reads.
type environment struct{ seed, plan string }

// packageUnderTest returns the import path of the package that go test is running in.
func packageUnderTest() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return commandline.PackageIn(dir)
}

// readInput reads a file. A relative name is looked up in the package's directory and in the module's root.
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

// parseSeed parses a seed in decimal or 0x-prefixed hexadecimal.
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
