package durosim

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// keptIn is the directory, in that of the package under test, in which Test keeps smallest plans that fail.
const keptIn = "testdata/durosim"

// keptFile returns the file for a test's smallest failing plan, or "" if t is not a real test.
func keptFile(t T) string {
	tb, ok := t.(testing.TB)
	if !ok {
		return ""
	}
	count, counts := calls.LoadOrStore(t.Name(), &atomic.Uint32{})
	if !counts {
		tb.Cleanup(func() { calls.Delete(t.Name()) })
	}
	name := url.QueryEscape(t.Name())
	if n := count.(*atomic.Uint32).Add(1); n > 1 {
		name += fmt.Sprintf("=%d", n)
	}
	return filepath.Join(keptIn, name+".txt")
}

// calls counts the calls of Test by each running test, each of which has a file of its own.
var calls sync.Map

// keep writes the smallest plan of a failure to the test's file, and says so. Without such a file it returns the plan.
func (r *testRun) keep(s *Shrunk, seed uint64) string {
	stored := s.Entry(seed, "").Format()
	if r.kept == "" {
		return fmt.Sprintf("\nThe smallest plan as a stored run: keep it in a file, and name that in %s to replay it.\n\n%s", EnvPlan, stored)
	}
	err := os.MkdirAll(filepath.Dir(r.kept), 0o755)
	if err == nil {
		err = os.WriteFile(r.kept, []byte(stored), 0o644)
	}
	if err != nil {
		return fmt.Sprintf("\nThe smallest plan could not be kept: %v\n", err)
	}
	return fmt.Sprintf("\nThe smallest plan is kept in %s. The test replays it first, and removes it when it passes; with %s=1000, once a thousand other futures of it pass, too.\n",
		filepath.ToSlash(r.kept), EnvVerify)
}

// replayKept replays the plan that the test's last failure has left. If it still fails, or cannot be replayed, that is the
// report. Otherwise the file goes, with a line that says so, and the campaign follows.
func (r *testRun) replayKept() (text string, failed bool) {
	data, err := os.ReadFile(r.kept)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	file := filepath.ToSlash(r.kept)
	var entry *scenario.Entry
	if err == nil {
		entry, err = scenario.ParseEntry(file, data, r.c.builds()...)
	}
	again := *r
	again.name, again.entry = file, entry
	if err == nil {
		again.expect, again.command = entry.Expect, r.plainCommand()
		err = again.checkNeeds(file)
	}
	if err != nil {
		return fmt.Sprintf("durosim: the last failure cannot be replayed, so it is no test: %v\nIf the test has changed, delete %s, or rename it.\n", err, file), true
	}
	report, failed := again.replay()
	if failed {
		return report, true
	}
	if err := os.Remove(r.kept); err != nil {
		return fmt.Sprintf("durosim: %v\n", err), true
	}
	text = fmt.Sprintf("durosim: the last failure, in %s, passes, and the file is removed", file)
	if r.verify > 0 {
		text += fmt.Sprintf("; so do %d other futures of it", r.verify)
	}
	return text + "\n", false
}

// others runs other futures of a stored run: its choices are kept up to a step, and drawn anew from there.
func (r *testRun) others() (report string, failed bool) {
	var last uint64
	run := func(step, seed uint64, narrator func(cluster.Line)) (*cluster.Result, error) {
		chooser, err := r.entry.NewChooser()
		if err != nil {
			return nil, err
		}
		cfg := r.config()
		cfg.Plan, cfg.Seed = r.entry.Plan, r.entry.Seed
		redraw(&cfg, chooser, step, seed)
		cfg.Narrator = narrator
		return cluster.Run(cfg)
	}
	if _, err := run(math.MaxUint64, 1, func(l cluster.Line) { last = l.Step }); err != nil {
		return "durosim: " + err.Error(), true
	}
	var first *cluster.Violation
	var at, seed, count uint64
	for i := range r.verify {
		step := (last + 1) * i / r.verify
		result, err := run(step, i+1, func(cluster.Line) {})
		if err != nil {
			return "durosim: " + err.Error(), true
		}
		if len(result.Violations) == 0 {
			continue
		}
		if count++; first == nil {
			first, at, seed = &result.Violations[0], step, i+1
		}
	}
	if first == nil {
		return "", false
	}
	where := fmt.Sprintf("%s passes, but %s, of which the first is drawn from %d after step %s,", r.name,
		pretty.Plural(count, "other future of it", "other futures of it")+" of "+pretty.Count(r.verify), seed, pretty.Count(at))
	return violationText(where, *first) + "\nTo see it again:\n" + EnvVerify + "=" + fmt.Sprint(r.verify) + " " + r.plainCommand(), true
}
