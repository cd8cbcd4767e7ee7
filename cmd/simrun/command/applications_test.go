package command

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestProgramOfApplications runs plans with builds of applications, which a program has for all its runs or makes for each.
func TestProgramOfApplications(t *testing.T) {
	versions := []durosim.Application{{Version: "1.0.0", Register: func(r *node.Registry) error {
		return r.Register("Greet", engine.V(1, 0, 0), func(_ *orch.Context, input string) (string, error) { return "hello " + input, nil })
	}}}
	file := filepath.Join(t.TempDir(), "greet.txt")
	sample.OK(t, os.WriteFile(file, []byte("node A runs 1.5.0+1.0.0\ninstance g-1 runs Greet with you\n"), 0o644))
	each := func() durosim.Run {
		return durosim.Run{Applications: versions, Invariants: []durosim.Invariant{{Name: "rude", Statement: "None is.", Always: func() error { return errors.New("greeted") }}}}
	}
	known := filepath.Join(t.TempDir(), "known.toml")
	sample.OK(t, os.WriteFile(known, []byte("[[known]]\nproperty = \"rude\"\nreason = \"wanted\"\n"), 0o644))
	for _, c := range []struct {
		p    Program
		want string
	}{
		{Program{Applications: versions}, ""},
		{Program{EachRun: each}, "\ncontract: held; your own rules: broken: rude\n"},
		{Program{EachRun: each}, "VIOLATED  rude  (safety)\n  rule      None is.\n"},
		{Program{Applications: versions, EachRun: each}, "leave one out"},
		{Program{Applications: versions, Builds: engine.ShippedBuilds}, "leave out Builds and Handlers"},
	} {
		var out bytes.Buffer
		status := c.p.Run([]string{"run", file, "--seeds", "2"}, &out, &out)
		if (status == exitOK) != (c.want == "") || !strings.Contains(out.String(), c.want) {
			t.Errorf("status %d, want %q:\n%s", status, c.want, &out)
		}
	}
	var out bytes.Buffer
	const want = "\ncontract: held; your own rules: held but for what is known: rude\n"
	if status := (Program{EachRun: each}).Run([]string{"run", file, "--seeds", "2", "--known", known}, &out, &out); status != exitOK || !strings.Contains(out.String(), want) {
		t.Errorf("status %d, want %q:\n%s", status, want, &out)
	}
}

// TestTakenID checks that the report tells of independent starts that nobody sees dropped: the second of an id, and that of
// one that the plan starts, too.
func TestTakenID(t *testing.T) {
	p := Program{EachRun: func() durosim.Run {
		return durosim.Run{Applications: []durosim.Application{{Version: "1.0.0", Register: func(r *node.Registry) error {
			log := func(*orch.Context, string) (string, error) { return "", nil }
			note := func(ctx *orch.Context, id string) (string, error) {
				ctx.StartOrchestration("Log", id, "")
				return "", nil
			}
			return errors.Join(r.Register("Log", engine.V(1, 0, 0), log), r.Register("Note", engine.V(1, 0, 0), note))
		}}}}
	}}
	file := filepath.Join(t.TempDir(), "note.txt")
	plan := "node A runs 1.5.0+1.0.0\ninstance n-1 runs Note with log-1 at 1s\ninstance n-2 runs Note with log-1 at 2s\ninstance n-3 runs Note with log-2 at 1s\n" +
		"instance n-4 runs Note with log-3 at 1s\ninstance log-3 runs Log at 20s\n"
	sample.OK(t, os.WriteFile(file, []byte(plan), 0o644))
	var out bytes.Buffer
	p.Run([]string{"run", file, "--seeds", "1", "--faults", "none"}, &out, &out)
	for _, want := range []string{
		"\nindependent starts that were dropped, since their id was taken:\n", "  1  Log, started by Note@1.0.0; first log-1, seed 1\n",
		"  1  what the plan starts, after Note@1.0.0; first log-3, seed 1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
