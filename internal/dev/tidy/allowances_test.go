package tidy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tables is the file that contains the allowances.
const tables = "internal/dev/tidy/tidy_test.go"

// TestAllowances checks that every allowance is used, because an unused one is probably a mistake.
func TestAllowances(t *testing.T) {
	m := loadModule(t)
	report(t, checkTable(m, packages))
	report(t, checkModules(m, testModules))
	report(t, checkExemptions(m, exempt))
}

// checkTable reports imports that the table allows but no package uses.
func checkTable(m *module, table map[string]imports) []finding {
	var out []finding
	add := func(format string, args ...any) { out = append(out, finding{tables, 0, fmt.Sprintf(format, args...)}) }
	dirs := m.dirs()
	for dir, rule := range table {
		if !slices.Contains(dirs, dir) {
			add("there is no package %s: remove its row", dir)
			continue
		}
		var code, tests []string
		for _, s := range m.sources {
			for _, imp := range s.imports(m) {
				if own := strings.TrimPrefix(imp.path, modulePath+"/"); s.dir == dir && s.test {
					tests = append(tests, own)
				} else if s.dir == dir {
					code = append(code, own)
				}
			}
		}
		for _, d := range rule.module {
			switch {
			case slices.Contains(code, d):
			case slices.Contains(tests, d):
				add("%s may import %s, and only its tests do: move it to tests", dir, d)
			default:
				add("%s may import %s, and does not: remove it", dir, d)
			}
		}
		for _, o := range rule.others {
			if !slices.ContainsFunc(code, func(path string) bool { return hasModule([]string{o}, path) }) {
				add("%s may import %s, and does not: remove it", dir, o)
			}
		}
		for _, d := range rule.tests {
			if slices.Contains(code, d) || !slices.Contains(tests, d) {
				add("the tests of %s may import %s, and do not, or need no leave: remove it", dir, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b finding) int { return strings.Compare(a.text, b.text) })
	return out
}

// checkModules reports modules that may be imported but never are.
func checkModules(m *module, modules []string) []finding {
	var out []finding
	for _, o := range modules {
		uses := func(s *source) bool {
			return slices.ContainsFunc(s.imports(m), func(i importLine) bool { return hasModule([]string{o}, i.path) })
		}
		if !slices.ContainsFunc(m.sources, uses) {
			out = append(out, finding{tables, 0, fmt.Sprintf("%s may be imported, and is not: remove it", o)})
		}
	}
	return out
}

// checkExemptions reports exemptions for packages or files that do nothing banned.
func checkExemptions(m *module, table []exemption) []finding {
	var out []finding
	for _, e := range table {
		found := bans(m, func(s *source) permits { return permits{everything: !e.covers(s)} })
		uses := func(begin string) bool {
			return slices.ContainsFunc(found, func(f finding) bool { return strings.HasPrefix(f.text, begin) })
		}
		add := func(what string) {
			out = append(out, finding{tables, 0, fmt.Sprintf("%s is exempt from the ban on %s, and needs no exemption: remove it", e.where, what)})
		}
		if e.everything && len(found) == 0 {
			add("hidden inputs")
		}
		if e.goroutines && !uses("go statement") && !uses("channel") && !uses("select") {
			add("goroutines")
		}
		for _, i := range e.imports {
			if !uses("imports " + i + ":") {
				add(i)
			}
		}
		for _, n := range e.names {
			if !uses(n + ":") {
				add(n)
			}
		}
	}
	return out
}

// TestLinked checks that no command links packages that only tests need.
func TestLinked(t *testing.T) { report(t, checkLinked(loadModule(t))) }

// checkLinked finds packages that a command imports, directly or indirectly, and that import testing or a module meant
// for tests.
func checkLinked(m *module) []finding {
	var out []finding
	seen := map[string]string{} // maps each package to the one through which it is linked
	var queue []string
	link := func(dir, by string) {
		if _, ok := seen[dir]; !ok {
			seen[dir] = by
			queue = append(queue, dir)
		}
	}
	for _, s := range m.sources {
		if s.ast.Name.Name == "main" && !s.test {
			link(s.dir, "")
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, s := range m.sources {
			if s.dir != queue[i] || s.test {
				continue
			}
			for _, imp := range s.imports(m) {
				if dir, ok := strings.CutPrefix(imp.path, modulePath+"/"); ok {
					link(dir, s.dir)
				} else if imp.path == "testing" || hasModule(testModules, imp.path) {
					out = append(out, finding{s.name, imp.line, fmt.Sprintf("%s is linked by a command (%s): move what needs it to a package that only tests import",
						imp.path, chain(seen, s.dir))})
				}
			}
		}
	}
	return out
}

// chain returns the import path from a command to a package.
func chain(by map[string]string, dir string) string {
	text := dir
	for by[dir] != "" {
		dir = by[dir]
		text = dir + " → " + text
	}
	return text
}
