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
	"cmd/simrun/command":        {"github.com/alecthomas/kong", "github.com/BurntSushi/toml", "github.com/schollz/progressbar/v3", "golang.org/x/term"},
	"properties/oracle":         {"github.com/Masterminds/semver/v3"},
	"properties/oracle/overlap": {"github.com/anishathalye/porcupine"},
	"cmd/simrun/internal/wire":  {"github.com/creachadair/jrpc2"},
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
		for _, imp := range s.imports(m) {
			dir, own := strings.CutPrefix(imp.path+"/", modulePath+"/")
			dir = strings.TrimSuffix(dir, "/")
			if dir == "" {
				dir = "."
			}
			switch {
			case own && floor[dir] >= floor[s.dir]:
				out = append(out, finding{s.name, imp.line, fmt.Sprintf("%s must not import %s: imports run downwards; move what is shared below both, or pass it as a value or an interface that %[1]s declares", s.dir, dir)})
			case !own && !isStandard(imp.path) && !hasModule(modules[s.dir], imp.path):
				out = append(out, finding{s.name, imp.line, fmt.Sprintf("%s must not import %s: use the standard library, or put it into a module beside the example or test that needs it", s.dir, imp.path)})
			}
		}
	}
	return out
}

func hasModule(modules []string, importPath string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return importPath == m || strings.HasPrefix(importPath, m+"/") })
}
