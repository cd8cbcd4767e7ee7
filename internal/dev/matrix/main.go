package matrix

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/durosim/durosim/internal/dev/mutate"
)

type options struct {
	sample, jobs, deep, most  int
	draw                      string
	checkers, table, reasoned bool
	timeout                   time.Duration
	state, out, reasons, dir  string
}

// Main carries out `simdev mutants` with those arguments, in the directory of simdev's module, and returns the exit status.
func Main(args []string) int {
	var o options
	flag := flag.NewFlagSet("simdev mutants", flag.ContinueOnError)
	flag.IntVar(&o.sample, "sample", 0, "try `N` mutants, drawn by the hashes of their names; 0 for all")
	flag.StringVar(&o.draw, "draw", "", "draw another sample: `TEXT` is hashed with each name")
	flag.IntVar(&o.jobs, "jobs", 2, "mutants tried at once")
	flag.IntVar(&o.deep, "deep", 5, "ask again with `N` times the seeds about those that nobody objects to; 1 does not")
	flag.IntVar(&o.most, "most", 0, "ask `N` of the judges that execute a mutant's place, those first that notice most; 0 for all")
	flag.BoolVar(&o.checkers, "checkers", false, "try the packages of the checkers, which their tests judge")
	flag.BoolVar(&o.reasoned, "reasoned", false, "fail if nothing is known of a survivor, and print what -reasons needs")
	flag.BoolVar(&o.table, "table", false, "try nothing: write the matrix of what -state has")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Second, "how much processor time a mutant may take before it counts as one that hangs; with more seeds, so many times more")
	flag.StringVar(&o.state, "state", "", "`FILE` that keeps results")
	flag.StringVar(&o.dir, "dir", "", "`DIR` for what is compiled, which stays there")
	flag.StringVar(&o.out, "out", "", "`FILE` to write the matrix to; standard output if not given")
	flag.StringVar(&o.reasons, "reasons", "mutate/reasons.txt", "`FILE` with what is known of survivors")
	if flag.Parse(args) != nil {
		return 2
	}
	areas := judged
	if o.checkers {
		areas = checkers
	}
	if names := flag.Args(); len(names) > 0 {
		areas = slices.DeleteFunc(slices.Clone(areas), func(a area) bool { return !slices.Contains(names, a.path) })
	}
	if err := run(o, areas); err != nil {
		fmt.Fprintln(os.Stderr, "simdev mutants:", err)
		return 1
	}
	return 0
}

func run(o options, areas []area) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "mutants")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	var err error
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	t := &trials{options: o, areas: map[string]area{}, ignored: map[string]bool{}}
	var paths []string
	for _, a := range areas {
		paths, t.areas[a.path] = append(paths, module+a.path), a
	}
	packages, err := mutate.Load(".", paths...)
	if err != nil {
		return err
	}
	t.mutants = slices.DeleteFunc(mutate.Mutants(packages), func(m *mutate.Mutant) bool { return !t.areas[t.path(m)].mutates(m.File) })
	if err := t.load(); err != nil {
		return err
	}
	if o.table {
		return t.write()
	}
	if err := t.build(areas, packages); err != nil {
		return err
	}
	if !o.checkers {
		if err := t.original(); err != nil {
			return err
		}
	}
	t.originalTests()
	t.tryAll()
	return t.write()
}

// trials holds the results so far.
type trials struct {
	options
	areas   map[string]area // by path
	mutants []*mutate.Mutant
	// digests holds the digests of the original, keyed by judge and times. ignored holds the judges that must not be
	// used. judges lists all judges in order. reach maps each mutant to the judges that execute its place.
	digests map[string]string
	ignored map[string]bool
	judges  []string
	reach   map[int]map[string]bool
	results map[string]result // keyed by mutant
	// testTime is the duration of each set of tests on the original.
	testTime map[tests]time.Duration
	mu       sync.Mutex
}

func (t *trials) judge() string { return filepath.Join(t.dir, "judge") }
func (t *trials) program(of tests) string {
	return filepath.Join(t.dir, strings.ReplaceAll(of.path, "/", "-")+".test")
}

// path returns the path of m's area.
func (t *trials) path(m *mutate.Mutant) string { return strings.TrimPrefix(m.Path, module) }

// build compiles the judge and each area's tests, all with the same set of mutants.
func (t *trials) build(areas []area, packages []*mutate.Package) (err error) {
	if !t.checkers {
		if t.mutants, err = mutate.Build(".", t.dir, t.judge(), "./judge", false, packages, t.mutants); err != nil {
			return err
		}
	}
	built := map[string]bool{}
	for _, a := range areas {
		for _, ts := range a.tests {
			if built[ts.path] {
				continue
			}
			built[ts.path] = true
			if t.mutants, err = mutate.Build(".", t.dir, t.program(ts), module+ts.path, true, packages, t.mutants); err != nil {
				return err
			}
		}
	}
	return nil
}
