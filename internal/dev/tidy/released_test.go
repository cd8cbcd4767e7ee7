package tidy

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func init() { generated["released"] = releasedExemptions }

// releasedPrefix marks a comment on code that treats released runtimes differently from modelled builds. After the
// prefix, the comment says what is treated differently and, after a colon, how.
const releasedPrefix = "On released nodes, "

// releasedDirs lists the directories whose comments are collected.
var releasedDirs = []string{"properties", "sim/realnode", "sim/cluster"}

// releasedExemptions lists the requirements that do not apply to released runtimes, taken from comments in the code.
func releasedExemptions() string {
	m, err := theModule()
	if err != nil {
		return err.Error()
	}
	b := table("what", "on released nodes, and why")
	var rows [][2]string
	for _, s := range m.sources {
		for _, c := range releasedComments(s) {
			what, how, _ := strings.Cut(strings.TrimPrefix(c, releasedPrefix), ": ")
			rows = append(rows, [2]string{what, strings.TrimSuffix(how, ".")})
		}
	}
	slices.SortFunc(rows, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	for _, r := range rows {
		b.row(r[0], r[1])
	}
	return b.String()
}

// releasedComments returns a file's comments on how it treats released runtimes, each joined into one line.
func releasedComments(s *source) []string {
	if s.test || !slices.ContainsFunc(releasedDirs, func(dir string) bool { return s.dir == dir || strings.HasPrefix(s.dir, dir+"/") }) {
		return nil
	}
	var out []string
	for _, group := range s.ast.Comments {
		if text := strings.Join(strings.Fields(group.Text()), " "); strings.HasPrefix(text, releasedPrefix) {
			out = append(out, text)
		}
	}
	return out
}

// TestReleasedExemptions checks that wherever a checker tests whether a build is a released one, a comment above says
// what is not required of such a build.
func TestReleasedExemptions(t *testing.T) {
	m := loadModule(t)
	var out []finding
	asked := 0
	for _, s := range m.sources {
		if s.test || !strings.HasPrefix(s.dir, "properties") {
			continue
		}
		said := map[int]bool{} // the lines directly below these comments
		for _, group := range s.ast.Comments {
			if strings.HasPrefix(group.Text(), releasedPrefix) {
				said[m.fset.Position(group.End()).Line+1] = true
			}
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || b.Op != token.EQL && b.Op != token.NEQ {
				return true
			}
			if x, ok := b.X.(*ast.SelectorExpr); !ok || x.Sel.Name != "Release" {
				return true
			}
			asked++
			if !said[m.line(b)] {
				out = append(out, finding{s.name, m.line(b), "released builds are treated in another way: say above it what, how and why (\"// " + releasedPrefix + "S01: ...\"), which docs/real-nodes.md lists"})
			}
			return true
		})
	}
	report(t, out)
	if asked == 0 {
		t.Error("nothing was found: the test does not see what it is about")
	}
}
