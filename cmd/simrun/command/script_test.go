package command_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/cmd/simrun/command"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/workload"
)

func TestMain(m *testing.M) {
	if os.Getenv(durosim.EnvShrink) == "" { // not set by a script
		os.Setenv(durosim.EnvShrink, shrinkLimit)
	}
	if f := flag.Lookup("test.parallel"); f != nil {
		_ = f.Value.Set("4") // much of the time goes by in waiting for programs
	}
	sample.CollectLess() // inherited by the commands that scripts run, because these are this program, too
	testscript.Main(m, map[string]func(){
		"simrun": func() { command.Main(command.Program{Name: "simrun"}) },
		"orders": func() { command.Main(orders) },
		"later": func() {
			later := orders
			later.Name, later.Builds = "later", func() []*engine.Build { return engine.ShippedBuilds()[2:] }
			later.Input = func(_, input string) string { return input + " euros" }
			command.Main(later)
		},
		"canary":  canary,
		"quarrel": quarrel,
	})
}

// canary is a program whose application 2.0.0 has both versions of Refund, and starts the second at once.
func canary() {
	answer := func(_ node.ActivityContext, input string) (string, error) { return "done: " + input, nil }
	first := func(r *node.Registry) error {
		return errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", answer), r.RegisterActivity("Audit", answer))
	}
	second := func(r *node.Registry) error {
		return errors.Join(first(r), r.Register("Refund", engine.V(2, 0, 0), refund2))
	}
	builds, handlers, _ := workload.Deploy([]string{"1.5.0"},
		workload.Application{Version: "1.0.0", Register: first}, workload.Application{Version: "2.0.0", Register: second})
	command.Main(command.Program{Name: "canary", Builds: func() []*engine.Build { return builds }, Handlers: handlers})
}

// shrinkLimit is long, since what a test expects of a plan must not depend on the machine.
const shrinkLimit = "1h"

// In addition to testscript's own commands, the scripts can use:
//
//	exits CODE PROGRAM ARG...   runs the program, which must exit with the code
//	repro CODE FILE             runs the command in the last line of the file (stdout for the last output), the same way
//	object FILE KEY...          the file is one JSON object and nothing else, and has the keys
//	steps PAGE SECTION SCRIPT   writes what the workflows in the section of a page run as a shell script
//	getkey VAR FILE KEY         puts the value of the object's key in an environment variable
//
// The condition [long] holds with DUROSIM_LONG=1. Scripts that take seconds begin with "[!asked] stop": they are run only
// with that, or if -run names a script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			provider, err := filepath.Abs("../../../properties/oracle/examples/python/provider.py")
			if err != nil {
				return err
			}
			env.Setenv("PROVIDER", provider)
			env.Setenv(durosim.EnvShrink, shrinkLimit)
			env.Setenv("FIRST_DAY", filepath.Join(filepath.Dir(provider), "first_day.py"))
			export, err := filepath.Abs("../duroxide-export/testdata/orders.jsonl")
			env.Setenv("EXPORT", export)
			env.Setenv("DOCS", filepath.Join(filepath.Dir(provider), "../../../../docs"))
			return err
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "long":
				return sample.All(), nil
			case "asked":
				return sample.All() || strings.Contains(flag.Lookup("test.run").Value.String(), "/"), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  cmdExits,
			"repro":  cmdRepro,
			"object": cmdObject,
			"getkey": cmdGetKey,
			"steps":  cmdSteps,
		},
	})
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s: exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func cmdRepro(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: repro CODE FILE")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "simrun ") && !strings.HasPrefix(last, "orders ") {
		ts.Fatalf("the last line is no command to paste: %q", last)
	}
	words, err := commandline.Split(last)
	ts.Check(err)
	cmdExits(ts, false, append([]string{args[0]}, words...))
}

func readObject(ts *testscript.TestScript, file string) map[string]json.RawMessage {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	var object map[string]json.RawMessage
	ts.Check(dec.Decode(&object))
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s: something follows the object", file)
	}
	return object
}

func cmdObject(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: object FILE KEY...")
	}
	object := readObject(ts, args[0])
	for _, key := range args[1:] {
		if _, ok := object[key]; !ok {
			ts.Fatalf("%s: the object has no key %q", args[0], key)
		}
	}
}

func cmdGetKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: getkey VAR FILE KEY")
	}
	raw, ok := readObject(ts, args[1])[args[2]]
	if !ok {
		ts.Fatalf("%s: the object has no key %q", args[1], args[2])
	}
	var value any
	ts.Check(json.Unmarshal(raw, &value))
	ts.Setenv(args[0], fmt.Sprint(value))
}
