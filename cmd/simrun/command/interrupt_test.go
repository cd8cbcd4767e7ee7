package command

import (
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/sample"
)

// TestInterrupted interrupts a campaign, a plan or a comparison during its fortieth run. It must report what it has found
// so far; a campaign must store that, too, and end with the command that runs the rest. A request to terminate counts as
// an interrupt.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small.scenario")
	sample.OK(t, os.WriteFile(small, []byte("scenario small\nnodes A B run 1.5.0\nload 6 instances over 4s\n  mix 1 Chain with 3..9\nat 1s..2s upgrade A to 2.0.0\n"), 0o600))
	long := filepath.Join(dir, "long.scenario")
	sample.OK(t, os.WriteFile(long, []byte("nodes A B run 1.5.0\nat 1s stop A\n"+strings.Repeat("after 1s start A\nafter 1s stop A\n", 4)+"after 1s start A\n"), 0o600))
	both := filepath.Join(dir, "both.scenario")
	sample.OK(t, os.WriteFile(both, []byte("nodes A B run 1.5.0\nload 6 instances over 4s\n  mix 1 Chain with 3..9\nat 1s upgrade A to 2.0.0\nafter 1s upgrade B to 2.0.0\n"), 0o600))
	for _, c := range sample.Of([]struct {
		signal os.Signal
		args   string
		want   []string
	}{
		{syscall.SIGTERM, "run --seeds 1000000 --workers 1 --bug provider/filter-after-lock --shard 2/3 --json --out " + dir + " " + small, []string{
			`"exit_status": 130`, `"interrupted"`, `"violations"`,
			`"go_on": ".* run --bug provider/filter-after-lock --seeds [0-9]+\.\.1000000 --shard 2/3 --workers 1 --out .* --json [^ ]+small\.scenario"`,
		}},
		{os.Interrupt, "run --seeds 1000000 --workers 1 --bug provider/filter-after-lock " + small, []string{
			`(?m)^scenario +small`,
			`(?m)^seeds +[0-9]+ +seeds 1\.\.1000000; stopped early, of 1,000,000`,
			`(?m) replay --seed [0-9]+ --bug provider/filter-after-lock \S+small\.scenario$`,
			`(?m)^Interrupted\. To continue with the other seeds:\n.* run --bug provider/filter-after-lock --seeds [0-9]+\.\.1000000 --workers 1 \S+small\.scenario$`,
		}},
		{os.Interrupt, "run --seeds 1000000 --results " + filepath.Join(dir, "results") + " " + small, []string{
			`(?m)^Interrupted\. The results are not written, since they are of all seeds\. To begin again:\n.* run --seeds 1\.\.1000000 --results `,
		}},
		{os.Interrupt, "plan --seeds 1000000 --actions " + both + " " + small, []string{
			`(?m)^plan small  1 step, 2 nodes; 1,000,000 seeds each, 3,000,000 runs$`,
			`(?m)^the whole plan \(interrupted after [0-9]+ of 3,000,000 runs, [0-9.]+s\):\ncontract: not judged, since no run was finished$`,
			`(?m)^the point of no return is not known: interrupted when 0 of 1 steps were tried$`,
		}},
		{syscall.SIGTERM, "plan --seeds 9 --store ../duroxide-export/testdata/orders.jsonl " + long, []string{
			`(?m)^  expected to complete: 14$`, `(?m)^preflight, by what the store holds:$`,
			`(?m)^the whole plan \(interrupted after [0-9]+ of 189 runs, `,
			`(?m)^  0 as it is `, `(?m)^the point of no return is not known: interrupted when [0-9]+ of 10 steps were tried$`,
		}},
		{syscall.SIGTERM, "plan --seeds 1000000 --json " + small, []string{`"exit_status": 130`, `"interrupted": true`, `"point_of_no_return": null`, `"stops": \[\]`}},
		{os.Interrupt, "shrink --seed 1 --bug provider/filter-after-lock rolling-upgrade", []string{
			`(?m)^size [0-9]+ .* in [0-9]+ runs$`, `(?m)^the search was interrupted: this is the smallest plan so far$`,
		}},
		{os.Interrupt, "compare --seeds 1000000 " + small, []string{
			`(?m)^filter  +[1-9]`, `(?m)^Interrupted after [0-9]+ of 6000000 runs, with [0-9]+ of 1000000 seeds of filter: the rows cannot be compared\.$`,
		}},
		{os.Interrupt, "compare --procedures --seeds 6 " + both, []string{
			`(?m)^  +no step  `, `(?m)^Interrupted after [1-6] of 7 procedures: there is nothing to choose yet\.$`,
		}},
		{syscall.SIGTERM, "compare --seeds 12 --json " + small, []string{`"strategy": "filter"`, `"strategy": "stall"`, `"interrupted": true`}},
	}, 5) {
		var runs atomic.Int64
		came := make(chan os.Signal, 1)
		signal.Notify(came, c.signal)
		p := &Program{EachRun: func() durosim.Run {
			if runs.Add(1) == 40 {
				self, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = self.Signal(c.signal)
				}
				if err != nil {
					t.Error(err)
				}
				<-came // on a busy machine, the runs could all end before it comes
			}
			return durosim.Run{}
		}}
		var out, err strings.Builder
		got := p.Run(strings.Fields(c.args), &out, &err)
		signal.Stop(came)
		if got != exitStopped {
			t.Errorf("%s: status %d\n%s%s", c.args, got, &out, &err)
		}
		for _, want := range c.want {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("%s: no %q in\n%s", c.args, want, &out)
			}
		}
	}
	if text, err := os.ReadFile(both); err != nil || !strings.HasPrefix(string(text), "nodes A B") {
		t.Errorf("an interrupted plan has replaced the file of actions (%v): %s", err, text)
	}
	if stored, err := filepath.Glob(filepath.Join(dir, "*.txt")); err != nil || len(stored) == 0 {
		t.Errorf("nothing is stored (%v)", err)
	}
}
