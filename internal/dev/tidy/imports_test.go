package tidy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// floors lists the packages, one line for each room, the lowest first. A package imports only packages of rooms above its
// line, and those to its left in its own room; tests may import any.
const floors = `
	internal/arena internal/commandline internal/foreign internal/pretty internal/sample
	engine/eventdata engine engine/observe engine/orchhost engine/call engine/orch engine/asked engine/deadletter engine/node engine/replay engine/machine engine/orchtest
	memprovider memprovider/live
	faults
	sim sim/record sim/internal/kernel sim/program sim/plan sim/scenario sim/workload sim/cluster sim/campaign sim/realnode sim/shrink sim/timeline
	properties/oracle properties/internal/spec/turn properties/undertest properties/conformance properties/oracle/overlap properties/oracle/search properties/gen properties/internal/model properties/internal/rig properties/internal/check properties/internal/secondjudge properties/internal/spec/node properties/internal/track properties/internal/coverage properties/internal/expect properties/internal/liveness properties/internal/outcome properties/internal/safety properties/internal/monitor properties
	.
	cmd/simrun/internal/wire cmd/simrun/internal/explore cmd/simrun/internal/compare cmd/simrun/internal/fuzz cmd/simrun/internal/upgrade cmd/simrun/command cmd/simrun
`

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

func TestImports(t *testing.T) { report(t, checkImports(loadModule(t), floors)) }

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
			out = append(out, finding{s.name, 0, fmt.Sprintf("package %s is on no floor: enter it into internal/dev/tidy/imports_test.go", s.dir)})
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

func init() { generated["packages"] = packageList }

// packageList lists the packages, highest floor first, with the first sentences of the comments of those that other
// modules can import.
func packageList() string {
	var b strings.Builder
	m, err := theModule()
	if err != nil {
		return err.Error()
	}
	for _, dir := range slices.Backward(strings.Fields(floors)) {
		for _, s := range m.sources {
			switch {
			case s.dir != dir || s.ast.Doc == nil || s.test:
			case strings.Contains("/"+dir, "/internal/"):
				fmt.Fprintf(&b, "- `%s`\n", dir)
			default:
				first, _, _ := strings.Cut(strings.Join(strings.Fields(s.ast.Doc.Text()), " "), ". ")
				first, _, _ = strings.Cut(first, ": ") // an example follows
				fmt.Fprintf(&b, "- `%s` %s\n", dir, strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(first, "Package "+s.ast.Name.Name+" "), "Command simrun "), "."))
			}
		}
	}
	return b.String()
}
