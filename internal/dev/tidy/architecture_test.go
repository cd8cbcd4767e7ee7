package tidy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architecture = "docs/architecture.md"

func init() { generated["exemptions"] = exemptions }

// exemptions lists the exemptions from the bans, with reasons.
func exemptions() string {
	var b strings.Builder
	for _, e := range exempt {
		fmt.Fprintf(&b, "- `%s`: %s\n", e.where, e.reason)
	}
	return b.String()
}

// TestArchitecture checks that the page draws and lists the packages that exist.
func TestArchitecture(t *testing.T) {
	report(t, checkArchitecture(loadModule(t), readDocument(t, architecture)))
}

var (
	diagramPattern = regexp.MustCompile("(?s)```mermaid\n(.*?)```")
	arrowPattern   = regexp.MustCompile(`^\s*(\w+)(?:\["([^<"]+)[^"]*"\])? --> (\w+)(?:\["([^<"]+)[^"]*"\])?$`)
	rowPattern     = regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|.*\\|.*\\|$")
	namePattern    = regexp.MustCompile("`([^`]+)`")
)

// checkArchitecture compares the page's diagram and table with the packages and their imports.
func checkArchitecture(m *module, page string) []finding {
	return append(checkDiagram(m, page), checkPackageTable(m, page)...)
}

// checkDiagram reports arrows for which there is no import, and imports for which there is no arrow.
func checkDiagram(m *module, page string) []finding {
	var out []finding
	add := func(format string, args ...any) {
		out = append(out, finding{architecture, 0, "the diagram: " + fmt.Sprintf(format, args...)})
	}
	match := diagramPattern.FindStringSubmatch(page)
	if match == nil {
		add("missing")
		return out
	}
	names := map[string]string{} // package names, by node
	var arrows [][2]string
	for line := range strings.Lines(match[1]) {
		a := arrowPattern.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if a == nil {
			continue
		}
		for i := 1; i < len(a); i += 2 {
			if a[i+1] != "" {
				names[a[i]] = a[i+1]
			}
		}
		arrows = append(arrows, [2]string{a[1], a[3]})
	}
	imports := importsOf(m)
	below := map[string][]string{}
	drawn := map[string]bool{}
	for _, a := range arrows {
		from, to := names[a[0]], names[a[1]]
		drawn[from], drawn[to] = true, true
		below[from] = append(below[from], to)
		if !slices.Contains(imports[from], to) {
			add("an arrow from %q to %q, which it does not import", from, to)
		}
	}
	for from, all := range imports {
		for _, to := range all {
			if drawn[from] && drawn[to] && !reaches(below, from, to) {
				add("no arrows lead from %s to %s, which it imports", from, to)
			}
		}
	}
	slices.SortFunc(out, func(a, b finding) int { return strings.Compare(a.text, b.text) })
	return out
}

// importsOf returns, for each package in the module, the module's packages that it imports. Tests are not considered.
func importsOf(m *module) map[string][]string {
	out := map[string][]string{}
	for _, s := range m.sources {
		for _, imp := range s.imports(m) {
			if dir, ok := strings.CutPrefix(imp.path, modulePath+"/"); ok && !s.test && !slices.Contains(out[s.dir], dir) {
				out[s.dir] = append(out[s.dir], dir)
			}
		}
	}
	return out
}

func reaches(below map[string][]string, from, to string) bool {
	seen := map[string]bool{from: true}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range below[queue[0]] {
			if next == to {
				return true
			}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// checkPackageTable finds packages that are missing from the page's table, and rows for packages that do not exist. A
// row may stand for several siblings: `a/b`, `c` means a/b and a/c.
func checkPackageTable(m *module, page string) []finding {
	var out []finding
	_, table, _ := strings.Cut(page, "\n| package |")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for _, row := range rowPattern.FindAllStringSubmatch(table, -1) {
		parent := ""
		for i, name := range namePattern.FindAllStringSubmatch(row[1], -1) {
			dir := name[1]
			if i > 0 {
				dir = path.Join(parent, dir)
			}
			parent = path.Dir(dir)
			listed = append(listed, dir)
		}
	}
	dirs := m.dirs()
	for _, dir := range listed {
		if !slices.Contains(dirs, dir) {
			out = append(out, finding{architecture, 0, fmt.Sprintf("the table has a row for %s, which does not exist", dir)})
		}
	}
	for _, dir := range dirs {
		if !slices.Contains(listed, dir) {
			out = append(out, finding{architecture, 0, fmt.Sprintf("the table has no row for %s: say what it does and what it must not know", dir)})
		}
	}
	return out
}

// folders lists the top-level folders from the bottom up. Folders in the same row do not import each other.
var folders = [][]string{{"engine"}, {"internal"}, {"memprovider", "faults"}, {"sim"}, {"properties"}, {"cmd"}}

// upward lists the imports between folders that run upwards on purpose. It says which packages import from which
// folder.
var upward = map[string][]string{
	"internal": {"engine", "engine/node", "engine/orch", "engine/orchtest"}, // data formats shared by packages above and below the contract
	"sim":      {"internal/campaign", "internal/planedit", "internal/timeline"},
}

// TestFolders checks that imports between the top-level folders run downwards, apart from those in upward. Each entry
// in upward must be used.
func TestFolders(t *testing.T) { report(t, checkFolders(importsOf(loadModule(t)))) }

func checkFolders(imports map[string][]string) []finding {
	floor := func(dir string) int {
		top, _, _ := strings.Cut(dir, "/")
		return slices.IndexFunc(folders, func(row []string) bool { return slices.Contains(row, top) })
	}
	var out []finding
	used := map[string]bool{}
	for from, all := range imports {
		for _, to := range all {
			top, _, _ := strings.Cut(to, "/")
			switch {
			case strings.HasPrefix(from, top+"/") || from == top || floor(from) > floor(to):
			case slices.Contains(upward[top], from):
				used[from+" "+top] = true
			default:
				out = append(out, finding{from, 0, fmt.Sprintf("imports %s, which stands above it or beside it: see upward in internal/dev/tidy/architecture_test.go", to)})
			}
		}
	}
	for top, dirs := range upward {
		for _, dir := range dirs {
			if !used[dir+" "+top] {
				out = append(out, finding{dir, 0, fmt.Sprintf("may import from %s, and does not: remove it from upward in internal/dev/tidy/architecture_test.go", top)})
			}
		}
	}
	slices.SortFunc(out, func(a, b finding) int { return strings.Compare(a.file+a.text, b.file+b.text) })
	return out
}
