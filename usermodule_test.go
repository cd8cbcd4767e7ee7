package durosim_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/sample"
)

// userModule is a user's own module, in a separate directory.
type userModule struct{ dir string }

// newUserModule writes a module with the given files. The keys are file names in the module, and the values are file
// names in testdata/usermodule.
func newUserModule(t *testing.T, files map[string]string) *userModule {
	t.Helper()
	root := sample.Must(filepath.Abs("."))(t)
	read := func(name string) string {
		data := sample.Must(os.ReadFile(name))(t)
		return string(data)
	}
	m := &userModule{dir: t.TempDir()}
	texts := map[string]string{
		"go.mod": strings.Replace(read(filepath.Join(root, "go.mod")), "module github.com/durosim/durosim", "module example.com/shop", 1) +
			fmt.Sprintf("\nrequire github.com/durosim/durosim v0.0.0\n\nreplace github.com/durosim/durosim => %s\n", root),
		"go.sum": read(filepath.Join(root, "go.sum")),
	}
	for name, from := range files {
		texts[name] = read(filepath.Join("testdata", "usermodule", from))
	}
	for name, text := range texts {
		file := filepath.Join(m.dir, name)
		sample.OK(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)))
	}
	return m
}

func (m *userModule) run(dir, line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = filepath.Join(m.dir, dir)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", durosim.EnvSeed+"=", durosim.EnvPlan+"=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repeats returns the last line in an output that can be pasted into a shell.
func repeats(out string) (last string) {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "DUROSIM_SEED=") {
			last = line
		}
	}
	return last
}

// TestUsersModule builds a module as a user would, with a handler that is broken on purpose, and runs the command in
// the last line of the failure. It takes seconds, and so runs only with DUROSIM_LONG.
func TestUsersModule(t *testing.T) {
	if !sample.All() {
		return
	}
	m := newUserModule(t, map[string]string{"orders/refund_test.go": "refund_test.go.txt"})
	out, err := m.run(".", "go test ./...")
	last := repeats(out)
	if err == nil || !strings.HasSuffix(last, " go test -run '^TestRefund$' example.com/shop/orders") {
		t.Fatalf("%v, line to paste %q:\n%s", err, last, out)
	}
	again, err := m.run("orders", last) // from any directory in the module
	if err == nil || !strings.Contains(again, last) || !strings.Contains(again, "The smallest plan found") {
		t.Errorf("%s: %v\n%s", last, err, again)
	}
}

// TestUsersShop builds a module with its own builds, handlers and an invariant, which a planted double charge violates.
// The module's own command stores the shrunk plan and replays it, and a unit test mocks the activities. TestUsersModule
// and TestOwnInvariantIsShrunk cover the parts of this; it runs only with DUROSIM_LONG, too.
func TestUsersShop(t *testing.T) {
	if !sample.All() {
		return
	}
	m := newUserModule(t, map[string]string{
		"main.go": "shop/main.go.txt", "main_test.go": "shop/main_test.go.txt", "upgrade.txt": "shop/upgrade.txt",
	})
	if out, err := m.run(".", "go test -run '^TestBuy$' . && go build -o shop ."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := m.run(".", "go test -run '^TestUpgrade$' .")
	if err == nil || !strings.Contains(out, "violates paid-once (safety)") || !strings.Contains(out, "nothing can be left out") ||
		!strings.HasSuffix(repeats(out), " go test -run '^TestUpgrade$' example.com/shop") {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = m.run(".", "./shop replay testdata/durosim/TestUpgrade.txt")
	if err != nil || !strings.Contains(out, "paid-once") || !strings.Contains(out, "was charged 2 times") {
		t.Errorf("%v\n%s", err, out)
	}
}
