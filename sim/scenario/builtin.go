package scenario

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
)

//go:embed scenarios/*.txt situations/*.txt released/*.txt
var embedded embed.FS

// Default is the name of the default scenario.
const Default = "rolling-upgrade"

// Named is a scenario that is part of the module.
type Named struct {
	Name  string
	Title string
	// File is the name used in errors. Text is the scenario's text.
	File string
	Text []byte
}

// Builtin returns the module's scenarios that need no host programs, sorted by name. The caller owns the result.
func Builtin() []Named { return filesIn("scenarios") }

// Released returns the module's scenarios that run released runtimes and thus need host programs, sorted by name. The
// caller owns the result.
func Released() []Named { return filesIn("released") }

// Situations returns small scenarios, one for each corner case in docs/contract/runtime.md#r13 that a scenario can
// express, sorted by name. Each name begins with the number of the case. They are not part of any campaign; a test runs
// them, and so can `simrun run FILE`. A line that begins with "#!" names a planted bug and the expectation or property
// that fails with it. The caller owns the result.
func Situations() []Named { return filesIn("situations") }

func filesIn(dir string) []Named {
	files, err := embedded.ReadDir(dir)
	if err != nil {
		panic(fmt.Sprintf("scenario: embedded files: %v", err))
	}
	var all []Named
	for _, f := range files {
		n := Named{Name: strings.TrimSuffix(f.Name(), ".txt"), File: path.Join(dir, f.Name())}
		if n.Text, err = embedded.ReadFile(n.File); err != nil {
			panic(fmt.Sprintf("scenario: embedded file %s: %v", n.File, err))
		}
		first, _, _ := strings.Cut(string(n.Text), "\n")
		n.Title = strings.TrimSpace(strings.TrimPrefix(first, "#"))
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Lookup returns the scenario called name from Builtin or Released. The scenario may use builds or, if there are none,
// the shipped builds.
func Lookup(name string, builds ...*engine.Build) (*Scenario, error) {
	for _, n := range slices.Concat(Builtin(), Released()) {
		if n.Name == name {
			return Parse(n.File, n.Text, builds...)
		}
	}
	return nil, fmt.Errorf("unknown scenario %q%s", name, nearest(name))
}

// nearest suggests the built-in scenario that the user probably meant, or says how to list them.
func nearest(name string) string {
	known := pretty.Texts(slices.Concat(Builtin(), Released()), func(n Named) string { return n.Name })
	if hint := pretty.Hint(name, known); hint != "" {
		return hint
	}
	like := slices.DeleteFunc(known, func(k string) bool { return len(name) <= 2 || !strings.Contains(k, strings.ToLower(name)) })
	if len(like) > 0 {
		return fmt.Sprintf("; did you mean %s?", orList(like))
	}
	return `; "simrun list scenarios" lists the built-in ones`
}
