package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// planFlags say what is simulated; run, replay and why share them.
type planFlags struct {
	Faults      string   `help:"Fault load instead of the scenario's own: none, light or full." placeholder:"LOAD"`
	Profile     string   `help:"Whose decisions the nodes follow: contract or duroxide-0.1.26." placeholder:"NAME"`
	Strategy    string   `help:"How work that a node cannot run is routed: filter, bounce, sweeper or deadletter." placeholder:"NAME"`
	DoubleCheck bool     `help:"Compute every turn twice, to see whether the handlers are deterministic."`
	Bug         []string `help:"Switch a seeded bug on; may be repeated. See simrun list bugs." placeholder:"ID" sep:"none"`
	Referee     bool     `help:"Have the executable specification of a provider judge every answer of the store, too."`
}

// subject is what is simulated: a scenario with what the command line wants otherwise.
type subject struct {
	scenario *scenario.Scenario
	// arg is the scenario as command lines name it, from the module root.
	arg   string
	flags planFlags
	over  scenario.Overrides
}

// subject finds the scenario and checks the flags. An empty name is the scenario that shows the first bug, or else the
// default one.
func (f planFlags) subject(name string) (*subject, error) {
	s := &subject{flags: f}
	if f.Faults != "" {
		plan, err := scenario.NamedFaults(f.Faults)
		if err != nil {
			return nil, fmt.Errorf("--faults: %w", err)
		}
		s.over.Faults = &plan
	}
	s.over.Profile, s.over.Strategy = cluster.Profile(f.Profile), cluster.Strategy(f.Strategy)
	for _, id := range f.Bug {
		bug, ok := faults.Switch(faults.BugID(id))
		if !ok {
			return nil, fmt.Errorf("--bug %q: there is no such bug; %s\"simrun list bugs\" lists all", id, nearBugs(id))
		}
		s.over.Bugs = append(s.over.Bugs, bug.ID)
		if name == "" {
			name = bug.Scenario // empty for a switch that no property catches
		}
	}
	if name == "" {
		name = scenario.Default
	}
	var err error
	if s.scenario, s.arg, err = openScenario(name); err != nil {
		return nil, err
	}
	var known []string
	for _, o := range cluster.ShippedOrchestrations() {
		known = append(known, o.Name+"@"+o.Version.String())
	}
	if err := s.scenario.CheckOrchestrations(known); err != nil {
		return nil, err
	}
	// Whatever is wrong with plan or flags is wrong with every seed: say so before the first run.
	plan, err := s.plan(1)
	if err != nil {
		return nil, err
	}
	return s, plan.Validate(engine.ShippedBuilds())
}

// nearBugs names the bugs that begin most like an id, if those are few.
func nearBugs(id string) string {
	const most = 4
	var near []string
	longest := strings.Index(id, "/") + 2 // a family in common is not yet alike
	for _, b := range faults.Catalogue() {
		n := commonPrefix(string(b.ID), id)
		if n > longest {
			longest, near = n, nil
		}
		if n == longest {
			near = append(near, string(b.ID))
		}
	}
	if len(near) == 0 || len(near) > most {
		return ""
	}
	return "did you mean " + strings.Join(near, " or ") + "? "
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// openScenario finds a scenario by its name or file, and how command lines name it.
func openScenario(name string) (s *scenario.Scenario, arg string, err error) {
	if slices.ContainsFunc(scenario.Builtin(), func(n scenario.Named) bool { return n.Name == name }) {
		s, err = scenario.Lookup(name)
		return s, name, err
	}
	data, err := readInput(name)
	if err != nil {
		return nil, "", err
	}
	if isEntry(data) {
		return nil, "", fmt.Errorf("%s is a stored run, not a scenario; \"simrun replay %s\" replays it", name, quoteArg(name))
	}
	s, err = scenario.Parse(name, data)
	return s, fromRoot(name), err
}

// readInput reads a file that the command line names where a built-in scenario could stand.
func readInput(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	switch {
	case err == nil:
		return data, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case strings.ContainsAny(name, `/\.`):
		return nil, fmt.Errorf("there is no file %s; the built-in scenarios are %s", name, strings.Join(builtinNames(), ", "))
	}
	_, err = scenario.Lookup(name)
	return nil, fmt.Errorf("%w; nor is there a file or a verb of that name", err)
}

// isEntry says whether a text is a stored run rather than a scenario.
func isEntry(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			return words[0] == "durosim"
		}
	}
	return false
}

func builtinNames() []string {
	var names []string
	for _, n := range scenario.Builtin() {
		names = append(names, n.Name)
	}
	return names
}

// fromRoot is the path of a file as someone in the module's root names it: as it is if we are there, else absolute.
func fromRoot(path string) string {
	if _, err := os.Stat(filepath.Join("cmd", "simrun")); err == nil || filepath.IsAbs(path) {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// plan expands a seed. It may be called from several goroutines at once.
func (s *subject) plan(seed uint64) (*cluster.Plan, error) { return s.scenario.Expand(seed, s.over) }

func (s *subject) monitor(w *cluster.World) cluster.Monitor {
	return properties.New(w, properties.Options{Expectations: s.scenario.Expect, Referee: s.flags.Referee})
}

// config is what runs a seed.
func (s *subject) config(seed uint64) (cluster.Config, error) {
	plan, err := s.plan(seed)
	return cluster.Config{Plan: plan, Seed: seed, Monitor: s.monitor, DoubleCheck: s.flags.DoubleCheck}, err
}

// required are the points that a campaign over so many seeds must reach. That is asked of a campaign only as the
// scenario means it: with its own faults, profile and strategy, and without bugs.
func (s *subject) required(seeds uint64) []string {
	own := s.over.Faults == nil && s.over.Profile == "" && s.over.Strategy == "" && len(s.over.Bugs) == 0
	if n := s.scenario.Seeds.Count; !own || n == 0 || seeds < uint64(n) {
		return nil
	}
	return slices.Concat(s.scenario.Require, s.sometimes())
}

// sometimes are the points of the scenario's own expectations.
func (s *subject) sometimes() []string {
	var points []string
	for _, e := range s.scenario.Expect {
		if e.Mode == cluster.ModeSometimes {
			points = append(points, e.PointName())
		}
	}
	return points
}

// repro is the command line that shows a seed again, from the module's root.
func (s *subject) repro(seed uint64) string {
	words := []string{"go run ./cmd/simrun replay --seed", strconv.FormatUint(seed, 10)}
	for _, w := range s.options() {
		words = append(words, quoteArg(w))
	}
	return strings.Join(append(words, quoteArg(s.arg)), " ")
}

// options are the flags that say what is simulated, as given.
func (s *subject) options() []string {
	var words []string
	flag := func(name, value string) {
		if value != "" {
			words = append(words, name, value)
		}
	}
	flag("--faults", s.flags.Faults)
	flag("--profile", s.flags.Profile)
	flag("--strategy", s.flags.Strategy)
	if s.flags.DoubleCheck {
		words = append(words, "--double-check")
	}
	for _, id := range s.flags.Bug {
		flag("--bug", id)
	}
	if s.flags.Referee {
		words = append(words, "--referee")
	}
	return words
}

// quoteArg quotes a word for a shell where it must be.
func quoteArg(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
