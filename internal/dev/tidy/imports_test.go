package tidy

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// floorsFile lists the packages, one line for each room, the lowest first. A package imports only packages of rooms above
// its line, and those to its left in its own room; tests may import any.
const floorsFile = "../floors.txt"

// modules lists the other modules that packages import, apart from their tests.
var modules = map[string][]string{
	"engine":                    {"github.com/Masterminds/semver/v3"},
	"faults":                    {"github.com/Masterminds/semver/v3"},
	"properties/gen":            {"pgregory.net/rapid"},
	"sim/program":               {"github.com/Masterminds/semver/v3"},
	"cmd/simrun/command":        {"github.com/alecthomas/kong", "github.com/BurntSushi/toml", "golang.org/x/term"},
	"properties/oracle":         {"github.com/Masterminds/semver/v3"},
	"properties/oracle/overlap": {"github.com/anishathalye/porcupine"},
}

func TestImports(t *testing.T) {
	floors, err := os.ReadFile(floorsFile)
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkImports(loadModule(t), string(floors)))
}

func checkImports(m *module, floors string) []finding {
	floor := map[string]int{}
	for i, dir := range strings.Fields(floors) {
		floor[dir] = i + 1
	}
	var out []finding
	for _, s := range m.sources {
		if s.test {
			continue
		}
		if floor[s.dir] == 0 {
			out = append(out, finding{s.name, 0, fmt.Sprintf("package %s is on no floor: enter it into internal/dev/floors.txt", s.dir)})
			continue
		}
		for _, spec := range s.ast.Imports {
			imported := importPath(spec)
			dir, own := ownDir(imported)
			switch {
			case own && floor[dir] >= floor[s.dir]:
				out = append(out, finding{s.name, m.line(spec), fmt.Sprintf("%s must not import %s: imports run downwards; move what is shared below both, or pass it as a value or an interface that %[1]s declares", s.dir, dir)})
			case !own && !isStandard(imported) && !slices.ContainsFunc(modules[s.dir], func(m string) bool { return strings.HasPrefix(imported+"/", m+"/") }):
				out = append(out, finding{s.name, m.line(spec), fmt.Sprintf("%s must not import %s: use the standard library, or put it into a module beside the example or test that needs it", s.dir, imported)})
			}
		}
	}
	return out
}
