package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// maxLines is the maximum length of a non-test file.
const maxLines = 400

// imports lists what a package may import from this module and from other modules.
type imports struct {
	// module lists directories. The value all stands for every package in the module.
	module []string
	all    bool
	// tests lists directories that the package's tests may import as well.
	tests []string
	// others lists other modules that the code may import, and testModules those that its tests may import.
	others []string
}

// testModules lists modules that every test may import, in addition to what the table allows.
var testModules = []string{"github.com/cockroachdb/datadriven", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal",
	"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/exp", "pgregory.net/rapid"}

// packages is the import graph shown in docs/architecture.md. A package that is not listed here is an error, and so is
// an import that is not allowed here. Imports only run downwards:
//
//	cmd/simrun → properties → sim/scenario → sim/cluster → sim/plan → faults → memprovider, internal/machine → internal/replay, engine/node → engine/orch → engine
//	                                             └→ sim
var packages = map[string]imports{

	"sim":                 {module: []string{"sim/internal/mix"}, tests: []string{"sim/internal/simtest", "sim/internal/kernel"}},
	"sim/internal/mix":    {},
	"sim/internal/kernel": {module: []string{"sim", "sim/internal/mix"}, tests: []string{"sim/internal/simtest"}},
	"internal/jsonform":   {},
	"internal/eventdata":  {module: []string{"internal/jsonform"}},
	"engine":              {module: []string{"internal/eventdata", "internal/jsonform"}, others: []string{"github.com/Masterminds/semver/v3"}},
	"internal/observe":    {module: []string{"engine"}},
	"internal/call":       {module: []string{"internal/observe", "engine"}, tests: []string{"internal/eventdata", "memprovider"}},
	"internal/orchhost":   {module: []string{"engine"}},
	"engine/orch":         {module: []string{"engine", "internal/orchhost"}},
	"internal/asked":      {module: []string{"engine", "engine/orch", "internal/orchhost"}},
	"internal/replay":     {module: []string{"internal/eventdata", "internal/slab", "engine", "engine/orch", "internal/orchhost"}, tests: []string{"faults"}},
	"internal/client":     {module: []string{"internal/eventdata", "engine"}},
	"engine/orchtest": {
		module: []string{"internal/eventdata", "engine", "engine/node", "engine/orch", "internal/replay", "internal/orchhost"}},
	"internal/machine":    {module: []string{"internal/asked", "internal/eventdata", "engine", "engine/node", "internal/call", "internal/replay", "internal/orchhost", "internal/slab"}, tests: []string{"internal/client", "faults", "engine/orch"}},
	"engine/node":         {module: []string{"engine", "engine/orch", "internal/orchhost"}},
	"memprovider":         {module: []string{"internal/eventdata", "internal/observe", "internal/slab", "engine", "internal/storerules"}, tests: []string{"faults"}},
	"internal/deadletter": {module: []string{"internal/eventdata", "engine", "internal/call"}, tests: []string{"memprovider", "faults", "internal/observe"}},
	"memprovider/live": {
		module: []string{"engine", "internal/call", "memprovider"}, tests: []string{"internal/observe"}},
	"faults": {
		module: []string{"internal/faultkind", "engine", "internal/deadletter", "internal/orchhost", "internal/replay", "internal/storerules", "internal/machine"}, others: []string{"github.com/Masterminds/semver/v3"}},
	"internal/program":   {module: []string{"engine/orch", "engine"}, tests: []string{"internal/orchhost"}},
	"internal/facts":     {},
	"internal/feature":   {},
	"internal/near":      {},
	"internal/slab":      {},
	"internal/planterm":  {module: []string{"engine", "internal/eventdata"}},
	"internal/faultkind": {},
	"internal/probe":     {module: []string{"engine"}},
	"internal/record":    {},
	"sim/plan":           {module: []string{"internal/planterm", "internal/faultkind", "internal/probe", "internal/eventdata", "internal/program", "engine", "engine/node", "memprovider", "faults", "internal/facts"}, tests: []string{"sim/scenario"}},
	"sim/workload": {
		module: []string{"internal/planterm", "internal/eventdata", "internal/record", "sim/plan", "internal/program", "engine", "engine/node", "engine/orch"}},
	"sim/cluster": {
		module: []string{"internal/planterm", "internal/faultkind", "internal/record", "internal/slab", "internal/probe", "internal/eventdata", "internal/observe", "sim", "sim/internal/kernel", "sim/plan", "internal/program", "sim/workload", "engine", "internal/call", "internal/deadletter", "internal/replay", "engine/node", "memprovider", "faults", "internal/storerules", "internal/machine", "internal/released", "internal/span"},
		tests:  []string{"internal/sample", "engine/orch", "sim/scenario"}}, // its tests describe runs as scenarios
	"sim/internal/simtest": {module: []string{"sim"}}, // for tests
	"internal/released":    {module: []string{"engine", "engine/node", "internal/machine", "internal/program"}},
	"sim/scenario": {
		module: []string{"internal/planterm", "internal/probe", "sim", "sim/plan", "internal/program", "engine", "engine/node", "faults", "internal/facts", "internal/near"},
		tests:  []string{"sim/workload"}},
	"sim/realnode": {module: []string{"internal/realnode", "sim/cluster"}},
	"internal/realnode": {
		module: []string{"internal/eventdata", "internal/program", "engine", "internal/call", "engine/node", "internal/foreign", "internal/callform", "internal/machine", "internal/observe", "internal/orchhost", "internal/released"},
		tests:  []string{"memprovider", "properties", "sim/scenario", "sim/cluster", "sim/plan", "faults", "sim", "internal/sample"}},
	"properties": {
		module: []string{"internal/planterm", "internal/observe", "sim", "sim/cluster", "sim/plan", "sim/scenario", "sim/workload", "engine", "engine/node", "internal/campaign", "internal/commandline", "properties/internal/coverage", "properties/internal/monitor", "properties/internal/shrink", "internal/page", "internal/span", "internal/timeline"},
		tests:  []string{"internal/faultkind", "internal/record", "internal/probe", "internal/sample", "internal/planedit", "faults", "engine/orch", "properties/gen", "properties/internal/safety"}},
	"properties/internal/model": {module: []string{"internal/slab", "internal/record", "internal/eventdata", "internal/observe", "engine", "memprovider", "sim/cluster", "internal/machine"}, tests: []string{"properties/internal/leaf", "sim/scenario"}},
	"properties/internal/leaf":  {}, // for tests
	"properties/internal/script": { // for tests
		module: []string{"engine", "internal/eventdata"}},
	"properties/internal/check": {
		module: []string{"internal/slab", "internal/record", "internal/observe", "engine", "memprovider", "properties/internal/model", "sim/cluster", "sim/plan", "internal/span"},
		tests:  []string{"internal/probe", "properties/internal/rig"}},
	"properties/internal/track": {
		module: []string{"internal/slab", "internal/record", "internal/observe", "engine", "internal/call", "engine/node", "properties/internal/check", "properties/internal/model", "sim/cluster", "sim/plan", "internal/machine"},
		tests:  []string{"properties/internal/monitor", "properties/internal/rig"}},
	"properties/internal/spec/turn": {
		module: []string{"internal/asked", "internal/show", "internal/eventdata", "internal/orchhost", "engine"},
		tests:  []string{"properties/internal/leaf", "properties/internal/script", "engine/orch", "internal/replay"}},
	"properties/internal/conduct": {
		module: []string{"internal/faultkind", "internal/asked", "internal/planterm", "internal/show", "internal/record", "internal/eventdata", "internal/observe", "internal/call", "internal/machine", "engine", "engine/node", "properties/internal/check", "properties/internal/model", "sim", "sim/cluster", "sim/plan"},
		tests:  []string{"engine/orch", "memprovider", "properties/internal/leaf", "properties/internal/rig", "properties/internal/script", "internal/sample", "sim/scenario"}},
	"properties/internal/safety": {
		module: []string{"internal/deadletter", "internal/show", "internal/planterm", "internal/faultkind", "internal/record", "internal/eventdata", "internal/observe", "engine", "internal/call", "engine/node", "engine/orch", "internal/replay", "properties/internal/check", "properties/internal/conduct", "properties/internal/model", "properties/internal/spec/turn", "sim/cluster", "sim/plan", "internal/program", "internal/machine", "internal/span"},
		tests:  []string{"faults", "internal/probe", "internal/storerules", "memprovider", "properties/internal/leaf", "properties/internal/monitor", "properties/internal/rig"}},
	"properties/internal/liveness": {
		module: []string{"internal/planterm", "internal/faultkind", "internal/record", "internal/eventdata", "internal/observe", "engine", "engine/node", "properties/internal/check", "properties/internal/model", "properties/internal/track", "sim/cluster", "internal/machine", "internal/span"},
		tests:  []string{"sim/plan", "properties/internal/monitor", "properties/internal/rig"}},
	"properties/internal/coverage": {
		module: []string{"internal/record", "internal/eventdata", "internal/observe", "internal/call", "internal/faultkind", "internal/feature", "engine", "internal/replay", "faults", "properties/internal/check", "properties/internal/model", "properties/internal/track", "sim/cluster", "internal/machine"},
		tests:  []string{"properties/internal/monitor", "properties/internal/rig", "sim/plan"}},
	"properties/internal/expect": {
		module: []string{"internal/planterm", "internal/slab", "internal/record", "internal/observe", "engine", "properties/internal/check", "properties/internal/model", "properties/internal/track", "sim/cluster", "sim/plan", "internal/machine", "internal/facts"},
		tests:  []string{"properties/internal/monitor", "properties/internal/rig"}},
	"properties/internal/outcome": {
		module: []string{"internal/planterm", "internal/faultkind", "internal/record", "internal/slab", "internal/eventdata", "internal/observe", "engine", "properties/internal/check", "properties/internal/model", "properties/internal/track", "sim/cluster", "sim/plan", "internal/machine", "internal/span"},
		tests:  []string{"properties/internal/monitor", "properties/internal/rig"}},
	"properties/internal/answers": {
		module: []string{"internal/observe", "internal/record", "internal/faultkind", "engine", "internal/call", "properties/internal/check", "properties/internal/model", "properties/oracle", "sim/cluster"},
		tests:  []string{"internal/eventdata", "faults", "internal/sample", "internal/storerules", "memprovider", "properties/internal/monitor", "properties/internal/rig", "sim/plan", "sim/scenario"}},
	"properties/internal/monitor": {
		module: []string{"engine", "internal/planterm", "properties/internal/answers", "properties/internal/check", "properties/internal/coverage", "properties/internal/expect",
			"properties/internal/liveness", "properties/internal/outcome", "properties/internal/safety", "properties/internal/track", "sim/cluster",
			"sim/plan"},
		tests: []string{"internal/observe", "internal/faultkind", "internal/feature", "faults"}},
	"properties/internal/rig": { // for tests
		module: []string{"internal/record", "internal/eventdata", "internal/observe", "engine", "engine/node", "engine/orch", "memprovider", "properties/internal/monitor", "properties/internal/script", "sim/cluster", "sim/plan", "internal/machine",
			"internal/call", "internal/faultkind", "internal/planterm", "internal/probe", "internal/span", "faults"}},
	"properties/internal/shrink": {
		module: []string{"internal/planedit", "internal/planterm", "internal/probe", "sim", "sim/plan", "internal/program", "sim/scenario", "faults"},
		tests:  []string{"internal/sample", "properties", "sim/cluster"}},
	"internal/planedit": {module: []string{"internal/planterm", "internal/faultkind", "internal/probe", "engine", "internal/program", "sim/plan", "sim/workload"}, tests: []string{"sim/scenario"}},
	"cmd/simrun/internal/explore": {
		module: []string{"internal/record", "sim", "sim/cluster", "sim/plan", "internal/campaign", "internal/observe", "memprovider"},
		tests:  []string{"faults", "properties", "sim/scenario"}},
	"cmd/simrun/internal/export": {
		module: []string{"engine", "properties/oracle", "properties/oracle/calllog", "sim/cluster", "sim/scenario"},
		tests:  []string{"internal/sample", "properties"}},
	"cmd/simrun/internal/fuzz": {
		module: []string{"sim", "sim/cluster", "sim/plan", "sim/scenario", "internal/campaign", "internal/planedit", "internal/program", "properties"},
		tests:  []string{"faults", "internal/sample"}},
	"properties/gen": {
		module: []string{"internal/planterm", "internal/faultkind", "internal/probe", "sim/plan", "internal/planedit", "internal/program", "sim/workload", "engine", "faults"},
		tests:  []string{"engine/node", "engine/orch", "properties", "sim/cluster", "sim/scenario"}, others: []string{"pgregory.net/rapid"}},
	"internal/campaign":    {module: []string{"internal/planterm", "sim", "sim/cluster", "sim/plan", "internal/machine", "internal/span"}, tests: []string{"internal/observe"}},
	"internal/commandline": {},
	"internal/show":        {tests: []string{"engine"}},
	"internal/span":        {},
	"cmd/simrun/internal/snapshot": {
		module: []string{"internal/planterm", "internal/eventdata", "engine", "engine/node", "engine/orch", "internal/orchhost", "memprovider", "sim/plan"}},
	"internal/timeline": {module: []string{"internal/record", "internal/eventdata", "internal/observe", "engine", "internal/machine", "internal/span", "sim/cluster", "sim/plan"}, tests: []string{"properties", "sim/scenario"}},
	"internal/page":     {module: []string{"internal/timeline"}},
	"cmd/simrun/internal/upgrade": {
		module: []string{"internal/planterm", "sim", "sim/cluster", "sim/plan", "sim/scenario", "sim/workload", "engine", "engine/node", "memprovider", "internal/campaign", "cmd/simrun/internal/snapshot", "faults", "properties", "internal/span"}},
	"cmd/simrun/internal/compare": {
		module: []string{"internal/planterm", "internal/record", "internal/machine", "internal/observe", "sim/cluster", "sim/plan", "sim/scenario", "engine", "properties", "internal/span"}, tests: []string{"internal/sample"}},
	"internal/storerules":           {module: []string{"engine"}},
	"internal/sample":               {},
	"properties/undertest/inmemory": {module: []string{"engine", "internal/observe", "internal/storerules", "memprovider", "properties/oracle", "properties/undertest"}},
	"cmd/simrun":                    {module: []string{"cmd/simrun/command"}},
	"cmd/simrun/command":            {all: true, others: []string{"github.com/alecthomas/kong", "github.com/BurntSushi/toml", "github.com/schollz/progressbar/v3", "golang.org/x/term"}, tests: []string{"internal/sample"}},
	"properties/conformance":        {module: []string{"internal/eventdata", "engine", "internal/call", "properties/oracle", "properties/undertest"}, tests: []string{"properties/oracle/search", "internal/observe", "faults", "internal/storerules", "memprovider", "memprovider/live"}},
	"properties/undertest":          {module: []string{"internal/observe", "engine", "internal/call"}, tests: []string{"memprovider"}},
	"properties/oracle":             {module: []string{"internal/eventdata", "engine", "internal/call", "internal/callform"}, tests: []string{"internal/observe", "memprovider"}, others: []string{"github.com/Masterminds/semver/v3"}},
	"properties/oracle/overlap":     {module: []string{"internal/eventdata", "engine", "internal/call", "properties/oracle", "properties/undertest"}, tests: []string{"internal/observe", "faults", "memprovider", "memprovider/live"}, others: []string{"github.com/anishathalye/porcupine"}},
	"internal/callform":             {module: []string{"internal/eventdata", "internal/jsonform", "internal/show", "engine", "internal/call"}},
	"properties/oracle/calllog":     {module: []string{"engine", "internal/call", "properties/oracle", "internal/callform"}, tests: []string{"internal/eventdata", "internal/observe", "memprovider"}},
	"properties/oracle/search":      {module: []string{"internal/eventdata", "engine", "internal/call", "properties/oracle", "properties/undertest"}, tests: []string{"internal/sample", "properties/undertest/inmemory", "properties/internal/leaf", "internal/observe", "properties/oracle/calllog", "faults", "internal/storerules", "memprovider", "memprovider/live"}},
	"internal/foreign":              {},
	"cmd/simrun/internal/wire":      {module: []string{"engine", "internal/call", "internal/foreign", "internal/callform", "internal/near", "internal/observe"}, tests: []string{"internal/eventdata", "memprovider"}, others: []string{"github.com/creachadair/jrpc2"}},
}

// permits lists bans that do not apply to a file.
type permits struct {
	everything bool
	// goroutines permits go statements and channels.
	goroutines bool
	// imports and names are permitted even though they are in bannedImports or bannedNames.
	imports, names []string
}

// exemption lifts bans for a package or file.
type exemption struct {
	// where is a file or a directory. A trailing /... includes everything below the directory.
	where string
	permits
	// reason is the reason as shown in docs/architecture.md.
	reason string
}

func (e exemption) covers(s *source) bool {
	if below, ok := strings.CutSuffix(e.where, "/..."); ok {
		return strings.HasPrefix(s.dir, below+"/")
	}
	return s.dir == e.where || s.name == e.where
}

// exempt lists the exemptions. They are shown in docs/architecture.md, which is updated by go -C internal/dev test ./tidy
// -update.
var exempt = []exemption{
	{"cmd/simrun/command", permits{everything: true}, "reads arguments and files, prints, looks at the clock, talks to other processes"},
	{"cmd/simrun/internal/wire", permits{everything: true}, "talks to other processes"},
	{"internal/campaign", permits{everything: true}, "runs seeds on every core"},
	{"internal/commandline", permits{everything: true}, "finds out how the program was started"},
	{"internal/foreign", permits{everything: true}, "talks to a process line by line"},
	{"internal/sample", permits{everything: true}, "reads whether the tests are to be long, and sets how they collect garbage"},
	{"internal/realnode", permits{everything: true}, "runs released runtimes in host programs"},
	{"memprovider/live", permits{everything: true}, "serves ordinary programs: mutex, wall clock, fetches that wait"},
	{"properties/oracle/overlap", permits{everything: true}, "calls providers at the same time, in real time, and gives up on those that do not answer"},
	{"properties/conformance", permits{everything: true}, "waits in real time for providers that have no other, and asks them concurrently"},
	{"properties/test.go", permits{imports: []string{"os"}}, "reads `DUROSIM_SEED`, `DUROSIM_PLAN` and `DUROSIM_HTML`"},
	{"properties/oracle/search/draws.go", permits{imports: []string{"math/rand/v2"}}, "makes a generator with the seed of one sequence"},
	{"properties/oracle/calllog/log.go", permits{imports: []string{"sync"}}, "records providers that are called concurrently"},
	{"internal/replay/coroutine.go", permits{goroutines: true, names: []string{"iter.Pull"}}, "holds coroutines, and the one helper that awaits a throw-away goroutine"},
	{"sim/workload/mischief.go", permits{names: []string{"iter.Pull"}}, "has code that uses its Context on a goroutine that is not its own, as users' code may"},
	{"internal/replay/foreign.go", permits{imports: []string{"sync/atomic"}}, "refuses calls from goroutines that a handler has started, which run at the same time"},
	{"properties/internal/conduct/written.go", permits{imports: []string{"log/slog"}}, "compares the log records of nodes with their lines"},
	{"internal/machine/record.go", permits{imports: []string{"log/slog"}}, "makes log records as data, at a time that it is given; whoever drives the node handles them"},
}

// permitted returns what a file is permitted to do.
func permitted(s *source) permits {
	for _, e := range exempt {
		if e.covers(s) {
			return e.permits
		}
	}
	return permits{}
}

// longFiles lists files that may be longer than maxLines, with reasons.
var longFiles = map[string]string{}

// root is the module's root.
const root = "../../.."

// theModule reads the module that contains the tests. It does so only once.
var theModule = sync.OnceValues(func() (*module, error) { return load(os.DirFS(root)) })

func loadModule(t *testing.T) *module {
	t.Helper()
	m, err := theModule()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func report(t *testing.T, found []finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

func TestImports(t *testing.T) { report(t, checkImports(loadModule(t))) }

func TestBans(t *testing.T) { report(t, bans(loadModule(t), permitted)) }

func TestNoTestSleeps(t *testing.T) { report(t, checkSleeps(loadModule(t))) }

func TestPackageComments(t *testing.T) { report(t, checkPackageComments(loadModule(t))) }

func TestPackageShares(t *testing.T) { report(t, checkShares(loadModule(t), 1, 8)) }

func TestFileLengths(t *testing.T) { report(t, checkLengths(loadModule(t), longFiles)) }

func TestTexts(t *testing.T) { report(t, checkTexts(loadModule(t))) }

// checkImports compares the packages' imports with the table.
func checkImports(m *module) []finding {
	var out []finding
	for _, s := range m.sources {
		rule, ok := packages[s.dir]
		if !ok {
			out = append(out, finding{s.name, 0, fmt.Sprintf("package %s is not in the table of internal/dev/tidy/tidy_test.go: say there what it may import", s.dir)})
			continue
		}
		for _, imp := range s.imports(m) {
			if dir, ok := strings.CutPrefix(imp.path, modulePath+"/"); ok {
				if !rule.mayImport(dir, s) {
					out = append(out, finding{s.name, imp.line, fmt.Sprintf("%s must not import %s: imports run downwards; move what is shared below both, or pass it as a value or an interface that %[1]s declares", s.dir, dir)})
				}
				continue
			}
			if isStandard(imp.path) || hasModule(rule.others, imp.path) || s.test && (hasModule(testModules, imp.path) || isLinked(imp.path)) {
				continue
			}
			out = append(out, finding{s.name, imp.line, fmt.Sprintf("%s must not import %s: use the standard library, or put it into a nested module beside the example or test that needs it", s.dir, imp.path)})
		}
	}
	return out
}

// isLinked reports whether the table lets any package's non-test code import a module.
func isLinked(importPath string) bool {
	for _, rule := range packages {
		if hasModule(rule.others, importPath) {
			return true
		}
	}
	return false
}

func (r imports) mayImport(dir string, s *source) bool {
	switch {
	case r.all, slices.Contains(r.module, dir):
		return true
	case s.test:
		// Any test may run a sample of its rows.
		return dir == s.dir || dir == "internal/sample" || slices.Contains(r.tests, dir)
	}
	return false
}

func hasModule(modules []string, importPath string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return importPath == m || strings.HasPrefix(importPath, m+"/") })
}

// checkSleeps finds tests that sleep in real time. Inside a testing/synctest bubble, time is virtual, so files that
// import that package may sleep.
func checkSleeps(m *module) []finding {
	var out []finding
	for _, s := range m.sources {
		virtual := slices.ContainsFunc(s.imports(m), func(i importLine) bool { return i.path == "testing/synctest" })
		if !s.test || virtual {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" {
					out = append(out, finding{s.name, m.line(n), "a test sleeps: wait for the thing itself, or use virtual time"})
				}
			}
			return true
		})
	}
	return out
}

// checkPackageComments finds packages whose comment is not in doc.go or does not show code within its first five lines.
func checkPackageComments(m *module) []finding {
	var out []finding
	for _, dir := range m.dirs() {
		documented := false
		for _, s := range m.sources {
			if s.dir != dir || s.test || s.ast.Doc == nil {
				continue
			}
			if path.Base(s.name) == "doc.go" {
				documented = true
				if !saysWhatToDo(s.ast.Doc) {
					out = append(out, finding{s.name, m.line(s.ast.Doc), "the first five lines of the package comment have no code: show what to do with the package, in an indented line"})
				}
			} else {
				out = append(out, finding{s.name, m.line(s.ast.Doc), "a package comment outside doc.go: move it there"})
			}
		}
		if !documented {
			out = append(out, finding{path.Join(dir, "doc.go"), 0, "missing, or without a package comment: say what the package is for, what it promises, and its limits"})
		}
	}
	return out
}

// saysWhatToDo reports whether one of the first five lines of a package comment is code.
func saysWhatToDo(doc *ast.CommentGroup) bool {
	lines := doc.List[:min(len(doc.List), 5)]
	return slices.ContainsFunc(lines, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//\t") })
}

// checkLengths reports files that are too long, and exceptions that are not needed.
func checkLengths(m *module, allowed map[string]string) []finding {
	var out []finding
	for _, s := range m.sources {
		_, ok := allowed[s.name]
		switch {
		case !s.test && s.lines > maxLines && !ok:
			out = append(out, finding{s.name, 0, fmt.Sprintf("%d lines, more than %d: split it by concept, or enter it with a reason in longFiles of internal/dev/tidy/tidy_test.go", s.lines, maxLines)})
		case ok && s.lines <= maxLines:
			out = append(out, finding{s.name, 0, fmt.Sprintf("%d lines: no longer needs its entry in longFiles of internal/dev/tidy/tidy_test.go", s.lines)})
		}
	}
	return out
}

// checkShares reports packages that have more than num/den of all non-test lines.
func checkShares(m *module, num, den int) []finding {
	lines, all := map[string]int{}, 0 // lines is never iterated over
	for _, s := range m.sources {
		if !s.test {
			lines[s.dir] += s.lines
			all += s.lines
		}
	}
	var out []finding
	for _, dir := range m.dirs() {
		if n := lines[dir]; n*den > all*num {
			out = append(out, finding{dir, 0, fmt.Sprintf("%d of %d lines, more than %d in %d: split the package by subject", n, all, num, den)})
		}
	}
	return out
}

// The patterns are written so that they do not match their own source.
var (
	machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.}])/(w[o]rk|f[a]rm|r[o]ot|h[o]me)(/|$|[\s"'` + "`" + `)])`)
	registry    = regexp.MustCompile(`(?i)(proxy|sum)\.go[l]ang\.org|registry\.n[p]mjs\.|npmj[s]\.com|pyp[i]\.org|pythonhost[e]d\.org|crates\.i[o]|maven\.or[g]|maven\.apach[e]\.org|deb\.debia[n]\.org`)
)

// checkTexts reports text that must not occur in any file, and line endings that a diff would show.
func checkTexts(m *module) []finding {
	var out []finding
	for _, t := range m.texts {
		for i, line := range bytes.Split(t.data, []byte("\n")) {
			switch {
			case bytes.IndexByte(line, '/') >= 0 && machinePath.Match(line):
				out = append(out, finding{t.name, i + 1, "the path of a machine: write it relative to the module's root"})
			case bytes.IndexByte(line, '.') >= 0 && registry.Match(line) && path.Base(t.name) != "Cargo.lock": // cargo puts the registry's name here
				out = append(out, finding{t.name, i + 1, "the host of a package registry: name the package only"})
			case bytes.HasSuffix(line, []byte("\r")):
				out = append(out, finding{t.name, i + 1, "a carriage return: end lines with a line feed alone"})
			}
		}
	}
	return out
}
