package command

import (
	"errors"
	"fmt"
	"go/token"
	"strings"

	"github.com/durosim/durosim/sim/scenario"
)

// exportCmd implements `simrun export`, which converts a stored run to a form that can be used without simrun.
type exportCmd struct {
	Run  string `arg:"" help:"A stored run, as written by run --out, shrink --out or fuzz --corpus."`
	File string `arg:"" optional:"" writes:"" help:"The file to write; standard output if none is named."`

	Calls    bool   `help:"Write the calls of the store instead, as JSON lines up to the first answer that the contract does not allow, for oracle --log."`
	Package  string `help:"The package of the Go test." default:"main" placeholder:"NAME"`
	Provider string `help:"With --calls: run over the storage provider that this command serves, as the run was stored." placeholder:"COMMAND"`
}

// Help returns the text printed below the flags.
func (exportCmd) Help() string {
	return `Writes a stored run as a self-contained Go test: it holds the plan and every choice, and fails as long as the run violates anything. Put it into a module that requires durosim. With --calls it writes the calls of the store in the run with their answers, if one of the answers is wrong: a script that shows a provider's mistake without a cluster. A run that was stored over a provider needs --provider for that, and its Go test a Store.

Examples:

    simrun shrink --seed 7 my-upgrade.txt --out finds
    simrun export finds/0123456789abcdef.txt orders/upgrade_0123_test.go --package orders
    simrun export finds/0123456789abcdef.txt --calls calls.jsonl
    simrun oracle --log calls.jsonl

Exit status: 0 written, 2 usage or bad input.`
}

func (c *exportCmd) run(a *app) (int, error) {
	if !token.IsIdentifier(c.Package) {
		return 0, fmt.Errorf("--package %q: expected the name of a Go package", c.Package)
	}
	if c.Provider != "" && !c.Calls {
		return 0, errors.New("--provider: it is for --calls")
	}
	entry, err := planFlags{}.entry(a.program, c.Run, nil)
	if err != nil {
		return 0, err
	}
	if entry == nil {
		return 0, fmt.Errorf("%s is a scenario, not a stored run; %s and %s write stored runs", c.Run, a.program.hint("run --out DIR"), a.program.hint("shrink --out DIR"))
	}
	var out []byte
	if c.Calls {
		out, err = a.program.calls(entry, c.Run, c.Provider)
	} else {
		out, err = GoTest(entry, c.Package)
	}
	switch {
	case err != nil:
		return 0, err
	case c.File == "":
		_, err = a.stdout.Write(out)
	case !c.Calls && !strings.HasSuffix(c.File, "_test.go"):
		return 0, fmt.Errorf("%s: go test runs only files whose names end in _test.go", c.File)
	default:
		err = inDirectory(c.File)
		if err == nil && !c.Calls { // a test may have been filled in since
			err = isNew(c.File)
		}
		if err != nil {
			return 0, err
		}
		err = writeWhole(c.File, out)
	}
	return exitOK, err
}

// calls returns a log of a stored run's calls to the store.
func (p *Program) calls(e *scenario.Entry, name, provider string) ([]byte, error) {
	s, err := entrySubject(p, e, name, provider)
	if err != nil {
		return nil, err
	}
	cfg, err := (&replayed{subject: s, seed: e.Seed, entry: e}).config()
	if err != nil {
		return nil, err
	}
	log, _, err := Calls(cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; without --calls, export writes a Go test", name, err)
	}
	return log, nil
}
