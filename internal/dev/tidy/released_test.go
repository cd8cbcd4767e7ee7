package tidy

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// releasedPrefix marks a comment on code that treats released runtimes differently from modelled builds. After the
// prefix, the comment says what is treated differently and, after a colon, how.
const releasedPrefix = "On released nodes, "

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
