package mutate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/mutate"
)

const source = `package main

import "fmt"

type pair struct{ a, b int }

func sub(a, b int) int { return a - b }

func main() {
	p := pair{3, 2}
	n := 0
	if p.a > 3 || p.b > 1 {
		n = 10
	}
	for i := 0; i < p.b && i < 9; i++ {
		n += sub(p.a, p.b)
	}
	const limit = 1 + 2
	fmt.Println(n, limit)
}
`

// TestMutants makes all mutants of a small program and runs each: what each prints is its own.
func TestMutants(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/small\n\ngo 1.25\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := mutate.Load(dir, "example.com/small")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "small.exe")
	mutants, err := mutate.Build(dir, t.TempDir(), program, ".", false, packages, mutate.Mutants(packages))
	if err != nil {
		t.Fatal(err)
	}
	run := func(mutant int) string {
		c := exec.Command(program)
		c.Env = append(os.Environ(), mutate.Variable+"="+strconv.Itoa(mutant))
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
	if now, err := os.ReadFile(filepath.Join(dir, "main.go")); err != nil || string(now) != source {
		t.Errorf("the source has changed: %v\n%s", err, now)
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

// A package that is not there is told.
func TestLoadFails(t *testing.T) {
	if _, err := mutate.Load("../..", "github.com/durosim/durosim/nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v", err)
	}
}
