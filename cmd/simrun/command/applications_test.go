package command

import (
	"bytes"
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
	each := func() durosim.Run { return durosim.Run{Applications: versions} }
	for _, c := range []struct {
		p    Program
		want string
	}{
		{Program{Applications: versions}, ""},
		{Program{EachRun: each}, ""},
		{Program{Applications: versions, EachRun: each}, "leave one out"},
		{Program{Applications: versions, Builds: engine.ShippedBuilds}, "leave out Builds and Handlers"},
	} {
		var out bytes.Buffer
		status := c.p.Run([]string{"run", file, "--seeds", "2"}, &out, &out)
		if (status == exitOK) != (c.want == "") || !strings.Contains(out.String(), c.want) {
			t.Errorf("status %d, want %q:\n%s", status, c.want, &out)
		}
	}
}
