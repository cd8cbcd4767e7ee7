package command_test

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/cmd/simrun/command"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// stored returns the stored run that shows the given bug.
func stored(t *testing.T, found string) *scenario.Entry {
	t.Helper()
	files := sample.Must(filepath.Glob("../../../testdata/seeds/*.txt"))(t)
	for _, file := range files {
		data := sample.Must(os.ReadFile(file))(t)
		if strings.Contains(string(data), "\nfound "+found+"\n") {
			return sample.Must(scenario.ParseEntry(file, data))(t)
		}
	}
	t.Fatalf("no stored run found %s", found)
	return nil
}

// fake stands in for the *testing.T of an exported test.
type fake struct{ failed string }

func (*fake) Helper()                          {}
func (*fake) Name() string                     { return "TestStored" }
func (*fake) Logf(string, ...any)              {}
func (f *fake) Fatalf(format string, a ...any) { f.failed = fmt.Sprintf(format, a...) }

// TestGoTest checks that the exported test is valid Go, contains the run, and fails in the same way as the run.
func TestGoTest(t *testing.T) {
	e := stored(t, "S05 provider/token-not-checked")
	text := sample.Must(command.GoTest(e, "orders"))(t)
	if _, err := parser.ParseFile(token.NewFileSet(), "x_test.go", text, parser.AllErrors); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !strings.Contains(string(text), string(e.Format())) {
		t.Errorf("the test does not hold the run:\n%s", text)
	}
	f := &fake{}
	durosim.Test(f, durosim.Config{Stored: string(e.Format())})
	if !strings.Contains(f.failed, "S05") {
		t.Errorf("the stored run fails by %q", f.failed)
	}
	over := *e
	over.Provider = "python3 provider.py"
	for _, c := range []durosim.Config{{Stored: string(over.Format())}, {Stored: "nonsense"}, {Stored: string(e.Format()), Scenario: "rolling-upgrade"}} {
		f := &fake{}
		if durosim.Test(f, c); !strings.Contains(f.failed, "Config") {
			t.Errorf("%.40q, scenario %q: fails by %q", c.Stored, c.Scenario, f.failed)
		}
	}
}

// TestGoTestInAModule checks that the exported test compiles in a user's module, where it must fail and name the
// violated property.
func TestGoTestInAModule(t *testing.T) {
	if !sample.All() {
		return // the go command takes several seconds
	}
	root := sample.Must(filepath.Abs("../../.."))(t)
	text := sample.Must(command.GoTest(stored(t, "S05 provider/token-not-checked"), "shop"))(t)
	dir := t.TempDir()
	mod := sample.Must(os.ReadFile(filepath.Join(root, "go.mod")))(t)
	sum := sample.Must(os.ReadFile(filepath.Join(root, "go.sum")))(t)
	files := map[string]string{
		"go.mod": strings.Replace(string(mod), "module github.com/durosim/durosim", "module example.com/shop", 1) +
			"\nrequire github.com/durosim/durosim v0.0.0\n\nreplace github.com/durosim/durosim => " + root + "\n",
		"go.sum": string(sum), "stored_test.go": string(text),
	}
	for name, text := range files {
		sample.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	cmd := exec.Command("go", "test", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "violates S05") || !strings.Contains(string(out), "--- FAIL: TestS05ProviderTokenNotChecked") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCalls(t *testing.T) {
	config := func(found string) cluster.Config {
		e := stored(t, found)
		chooser := sample.Must(e.NewChooser())(t)
		return cluster.Config{Plan: e.Plan, Seed: e.Seed, Chooser: chooser, Monitor: func(w *cluster.World) cluster.Monitor {
			return properties.New(w, properties.Options{})
		}}
	}
	log, refusal, err := command.Calls(config("S05 provider/token-not-checked"))
	sample.OK(t, err)
	calls, err := oracle.CheckLog(strings.NewReader(string(log)), oracle.Options{})
	var wrong *oracle.LogError
	if !errors.As(err, &wrong) || wrong.Refusal == nil || calls != strings.Count(string(log), "\n")-1 {
		t.Errorf("after %d calls of %d: %v", calls, strings.Count(string(log), "\n"), err)
	}
	if refusal == nil || wrong.Refusal.Error() != refusal.Error() {
		t.Errorf("the log is refused by %v, the run by %v", err, refusal)
	}
	if _, _, err := command.Calls(config("L02 engine/poll-stops")); !errors.Is(err, command.ErrNoProvider) {
		t.Errorf("a mistake of the engine: %v", err)
	}
	if _, _, err := command.Calls(config("S04 provider/count-reset-by-abandon")); err == nil || !strings.Contains(err.Error(), "does not begin empty") {
		t.Errorf("a store that does not begin empty: %v", err)
	}
	own := config("S05 provider/token-not-checked")
	own.Builds = engine.ShippedBuilds()
	for _, b := range own.Builds {
		b.Codec = engine.NewJSONCodec("own", b.Codec.Kinds(), engine.WorkItemKinds1x())
	}
	if _, _, err := command.Calls(own); err == nil || !strings.Contains(err.Error(), "a node runs build own, ") {
		t.Errorf("builds that no log knows: %v", err)
	}
}
