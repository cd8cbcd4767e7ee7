package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/durosim/durosim/internal/mutate"
)

// mutated are the packages that are tried if none is named.
var mutated = []string{"memprovider", "internal/storerules", "internal/replay", "internal/machine"}

const module = "github.com/durosim/durosim/"

type options struct {
	every, jobs                int
	timeout                    time.Duration
	state, out, reasons, limit string
}

func main() {
	var o options
	flag.IntVar(&o.every, "every", 1, "try every `N`-th mutant")
	flag.IntVar(&o.jobs, "jobs", 2, "mutants tried at once")
	flag.DurationVar(&o.timeout, "timeout", 2*time.Minute, "how long a mutant may take before it counts as one that hangs")
	flag.StringVar(&o.limit, "for", "", "stop after so long, as 20m")
	flag.StringVar(&o.state, "state", "", "`FILE` that keeps results")
	flag.StringVar(&o.out, "out", "", "`FILE` to write the matrix to; standard output if not given")
	flag.StringVar(&o.reasons, "reasons", "internal/mutate/reasons.txt", "`FILE` with what is known of survivors")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = mutated
	}
	if err := run(o, names); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(o options, names []string) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var paths []string
	for _, n := range names {
		paths = append(paths, module+n)
	}
	packages, err := mutate.Load(".", paths...)
	if err != nil {
		return err
	}
	t := &trials{options: o, dir: dir, ignored: map[string]bool{}}
	if t.mutants, err = mutate.Build(".", dir, filepath.Join(dir, "judge"), "./internal/mutate/judge", false, packages, mutate.Mutants(packages)); err != nil {
		return err
	}
	for _, n := range names { // their own tests, with the same mutants
		if _, err := mutate.Build(".", dir, t.tests(filepath.Base(n)), "./"+n, true, packages, t.mutants); err != nil {
			return err
		}
	}
	if err := t.original(); err != nil {
		return err
	}
	if err := t.load(); err != nil {
		return err
	}
	if err := t.tryAll(); err != nil {
		return err
	}
	return t.write()
}

// trials are the results so far.
type trials struct {
	options
	dir     string
	mutants []*mutate.Mutant
	// digests are those of the original, by judge; ignored are the judges that are not asked.
	digests map[string]string
	ignored map[string]bool
	results map[string]result // by key of the mutant
	mu      sync.Mutex
}

func (t *trials) tests(of string) string { return filepath.Join(t.dir, of+".test") }

// answer is a line of command judge.
type answer struct {
	judge, digest, objection string
	seeds                    int
	seconds                  float64
}

// ask runs command judge as a mutant, 0 for the original.
func (t *trials) ask(mutant int, args ...string) (list []answer, crash string) {
	out, err := t.start(mutant, filepath.Join(t.dir, "judge"), args...)
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 5)
		if len(f) < 5 {
			continue
		}
		seeds, _ := strconv.Atoi(f[2])
		seconds, _ := strconv.ParseFloat(f[3], 64)
		list = append(list, answer{f[0], f[1], f[4], seeds, seconds})
	}
	if err != nil && (len(list) == 0 || list[len(list)-1].objection == "") {
		crash = err.Error()
	}
	return list, crash
}

// start runs a program as a mutant and returns what it prints.
func (t *trials) start(mutant int, program string, args ...string) (string, error) {
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", mutate.Variable, mutant), "GOMAXPROCS=1")
	var out strings.Builder
	c.Stdout = &out
	if err := c.Start(); err != nil {
		return "", err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err := <-done:
		return out.String(), err
	case <-time.After(t.timeout):
		c.Process.Kill()
		<-done
		return out.String(), fmt.Errorf("it hangs: not done in %v", t.timeout)
	}
}

// original asks all judges of the original, twice.
func (t *trials) original() error {
	t.digests = map[string]string{}
	for range 2 {
		list, crash := t.ask(0, "-all", "-provider")
		if crash != "" {
			return fmt.Errorf("the original: %s", crash)
		}
		for _, a := range list {
			if was, twice := t.digests[a.judge]; a.objection != "" || twice && was != a.digest {
				t.ignored[a.judge] = true
			}
			t.digests[a.judge] = a.digest
		}
	}
	return nil
}

func (t *trials) tryAll() error {
	var end time.Time
	if t.limit != "" {
		d, err := time.ParseDuration(t.limit)
		if err != nil {
			return err
		}
		end = time.Now().Add(d)
	}
	next := make(chan *mutate.Mutant)
	var all sync.WaitGroup
	for range t.jobs {
		all.Go(func() {
			for m := range next {
				t.keep(m, t.try(m))
			}
		})
	}
	for i, m := range t.mutants {
		if i%t.every != 0 || !end.IsZero() && time.Now().After(end) {
			continue
		}
		if _, known := t.results[m.Key()]; !known {
			next <- m
		}
	}
	close(next)
	all.Wait()
	return nil
}
