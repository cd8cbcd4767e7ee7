package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/durosim/durosim/properties"
)

// TestInterrupted interrupts a campaign during its fortieth run. The campaign must report and store what it has found
// so far, and end with the command that runs the rest. A request to terminate counts as an interrupt.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small.scenario")
	if err := os.WriteFile(small, []byte("scenario small\nnodes A B run 1.5.0\nload 6 instances over 4s\n  mix 1 Chain with 3..9\nat 1s..2s upgrade A to 2.0.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signal os.Signal
		args   string
		want   []string
	}{
		{os.Interrupt, "run --seeds 1000000 --workers 1 --bug provider/filter-after-lock " + small, []string{
			`(?m)^scenario +small`,
			`(?m)^seeds +[0-9]+ +seeds 1\.\.1000000; stopped early, of 1,000,000`,
			`(?m) replay --seed [0-9]+ --bug provider/filter-after-lock \S+small\.scenario$`,
			`(?m)^Interrupted\. To continue with the other seeds:\n.* run --seeds [0-9]+\.\.1000000 --bug provider/filter-after-lock --workers=1 \S+small\.scenario$`,
		}},
		{syscall.SIGTERM, "run --seeds 1000000 --workers 1 --bug provider/filter-after-lock --shard 2/3 --json --out " + dir + " " + small, []string{
			`"exit_status": 130`, `"interrupted"`, `"violations"`,
			`"go_on": ".* run --seeds [0-9]+\.\.1000000 --bug provider/filter-after-lock --shard=2/3 --workers=1 --out=.* --json [^ ]+small\.scenario"`,
		}},
	} {
		var runs atomic.Int64
		p := &Program{EachRun: func() properties.Run {
			if runs.Add(1) == 40 {
				self, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = self.Signal(c.signal)
				}
				if err != nil {
					t.Error(err)
				}
			}
			return properties.Run{}
		}}
		var out, err strings.Builder
		if got := p.Run(strings.Fields(c.args), &out, &err); got != exitStopped {
			t.Errorf("%s: status %d\n%s%s", c.args, got, &out, &err)
		}
		for _, want := range c.want {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("%s: no %q in\n%s", c.args, want, &out)
			}
		}
	}
	if stored, err := filepath.Glob(filepath.Join(dir, "*.txt")); err != nil || len(stored) == 0 {
		t.Errorf("nothing is stored (%v)", err)
	}
}
