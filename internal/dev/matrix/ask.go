package matrix

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/dev/mutate"
	"github.com/durosim/durosim/internal/dev/mutate/active"
)

// answer is one line of command judge's output.
type answer struct {
	judge, digest, objection string
	seeds                    int
	reached                  []int
}

// ask runs command judge with mutant active. Mutant 0 is the original.
func (t *trials) ask(mutant, times int, args ...string) (list []answer, crash string) {
	out, err := t.start(mutant, times, t.judge(), "", append(args, "-times", strconv.Itoa(times))...)
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 6 {
			continue
		}
		a := answer{judge: f[0], digest: f[1], objection: f[4]}
		a.seeds, _ = strconv.Atoi(f[2])
		for id := range strings.FieldsSeq(f[5]) {
			n, _ := strconv.Atoi(id)
			a.reached = append(a.reached, n)
		}
		list = append(list, a)
	}
	if err != nil && (len(list) == 0 || list[len(list)-1].objection == "") {
		crash = err.Error()
	}
	return list, crash
}

// start runs program with mutant active, in directory in of the module, and returns its output. The limit on processor
// time is the usual limit for mutants, multiplied by times; the original has no limit.
func (t *trials) start(mutant, times int, program, in string, args ...string) (string, error) {
	limit := "unlimited"
	if mutant != 0 {
		limit = strconv.Itoa(int(t.timeout.Seconds()) * times)
	}
	// A mutant may allocate without end: eight gigabytes of addresses are several times what a judge needs.
	c := exec.Command("sh", append([]string{"-c", `ulimit -v 8388608; ulimit -t "$0"; exec "$@"`, limit, program}, args...)...)
	c.Dir = filepath.FromSlash(in)
	// The tests must leave nothing behind that fails them later, or the next mutant's.
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", active.Variable, mutant), "GOMAXPROCS=1", "RAPID_NOFAILFILE=1")
	var out strings.Builder
	c.Stdout = &out
	err := c.Run()
	if s := c.ProcessState; err != nil && s != nil && mutant != 0 && s.UserTime()+s.SystemTime() >= t.timeout*time.Duration(times) {
		err = fmt.Errorf("it hangs: not done in %v of processor time", t.timeout*time.Duration(times))
	}
	return out.String(), err
}

// original runs every judge on the original: twice with the usual number of seeds, to compare the digests, and once
// with the larger number used for survivors.
func (t *trials) original() error {
	t.digests, t.reach = map[string]string{}, map[int]map[string]bool{}
	for _, times := range []int{1, 1, t.deep} {
		list, crash := t.ask(0, times, "-all", "-reach")
		if crash != "" {
			return fmt.Errorf("the original: %s", crash)
		}
		for _, a := range list {
			key := a.judge + strconv.Itoa(times)
			was, twice := t.digests[key]
			if a.objection != "" || twice && was != a.digest {
				t.ignored[a.judge] = true
				fmt.Fprintf(os.Stderr, "matrix: %s is not asked: %s\n", a.judge, a.objection)
			}
			if t.digests[key] = a.digest; len(t.judges) < len(list) {
				t.judges = append(t.judges, a.judge)
			}
			for _, id := range a.reached {
				if t.reach[id] == nil {
					t.reach[id] = map[string]bool{}
				}
				t.reach[id][key] = true
			}
		}
	}
	return nil
}

// reaching returns the judges to run for m, with times as many seeds as usual. It picks at most t.most of the judges
// that execute the mutated place, about a third of them with full faults. If t.most is 0, it returns all of them.
func (t *trials) reaching(m *mutate.Mutant, times int) []string {
	var recovery, full []string
	for _, j := range t.judges {
		switch {
		case !t.reach[m.ID][j+strconv.Itoa(times)] || t.ignored[j]:
		case strings.HasSuffix(j, "+full"):
			full = append(full, j)
		default:
			recovery = append(recovery, j)
		}
	}
	if t.most > 0 {
		recovery = recovery[:min(len(recovery), max(t.most*2/3, t.most-len(full)))]
		full = full[:min(len(full), t.most-len(recovery))]
	}
	return append(recovery, full...)
}
