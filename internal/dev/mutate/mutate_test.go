package mutate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/dev/mutate"
	"github.com/durosim/durosim/internal/dev/mutate/active"
)

// TestMutants makes all mutants of a small program and runs each of them. Each prints its own result.
func TestMutants(t *testing.T) {
	const small = "github.com/durosim/durosim/internal/dev/mutate/testdata/small"
	packages, err := mutate.Load(".", small)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "small.exe")
	mutants, err := mutate.Build(".", t.TempDir(), program, small, false, packages, mutate.Mutants(packages))
	if err != nil {
		t.Fatal(err)
	}
	run := func(mutant int) string {
		c := exec.Command(program)
		c.Env = append(os.Environ(), active.Variable+"="+strconv.Itoa(mutant))
		out, err := c.CombinedOutput()
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(string(out))
	}
	got := "original: " + run(0) + "\n"
	for _, m := range mutants {
		got += m.Key() + ": " + run(m.ID) + "\n"
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("mutants and what they print (-want +got):\n%s", d)
	}
}

const want = `original: 12 3
small.sub plus for minus "a - b" to "a + b" 1: 20 3
small.main negated condition "p.a > 3 || p.b > 1" to "!(p.a > 3 || p.b > 1)" 1: 2 3
small.main and for or "p.a > 3 || p.b > 1" to "p.a > 3 && p.b > 1" 1: 2 3
small.main moved boundary "p.a > 3" to "p.a >= 3" 1: 12 3
small.main wrong field "p.a" to "p.b" 1: 12 3
small.main moved boundary "p.b > 1" to "p.b >= 1" 1: 12 3
small.main wrong field "p.b" to "p.a" 1: 12 3
small.main missing statement "n = 10" to "" 1: 2 3
small.main and for or "i < p.b && i < 9" to "i < p.b || i < 9" 1: 19 3
small.main moved boundary "i < p.b" to "i <= p.b" 1: 13 3
small.main wrong field "p.b" to "p.a" 2: 13 3
small.main moved boundary "i < 9" to "i <= 9" 1: 12 3
small.main missing statement "n += sub(p.a, p.b)" to "" 1: 10 3
small.main swapped arguments "sub(p.a, p.b)" to "sub(… p.b, p.a …)" 1: 8 3
small.main wrong field "p.a" to "p.b" 2: 10 3
small.main wrong field "p.b" to "p.a" 3: 10 3
small.main missing statement "fmt.Println(n, limit)" to "" 1: 
`

// TestLoadFails checks that an unknown package is an error.
func TestLoadFails(t *testing.T) {
	if _, err := mutate.Load("../..", "github.com/durosim/durosim/nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v", err)
	}
}
