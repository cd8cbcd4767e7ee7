package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// asksProduct lists what checkers, explanations and the recovery phase still ask the code that is judged. A mistake
// there is common to both sides: each line says what finds it all the same. A checker that asks the code under test
// what is right would never find anything wrong.
var asksProduct = map[string]string{
	"properties/internal/safety replay.Verify":    "S11 is about this replay; its own tests show it altered histories, and S24 states a turn by itself",
	"properties/internal/safety replay.NewArena":  "memory for that replay",
	"properties/internal/safety .ResolveStarted":  "the handler that S11 replays: with another one, the replay differs from the history",
	"properties/internal/track .ResolveStart":     "likewise: work would wait for a handler that is there, and outcome finds it",
	"properties/internal/track .ResolveStarted":   "likewise",
	"properties/internal/track .Activity":         "likewise",
	"properties/internal/coverage .ResolveStart":  "counts points, judges nothing",
	"properties/internal/expect .Orchestrations":  "facts for expectations, judges nothing",
	"properties/internal/outcome .Orchestrations": "advice below an unexpected end, judges nothing",
	"properties/internal/safety replay.DiffersAt": "the line of a disagreement that has been found, judges nothing",
	"sim/cluster replay.OpenWaits":                "recovery raises what an execution waits for; a wait that it does not see ends in L02",
}

// productMethods are methods of the engine's registry, filters and ranges, which the checkers restate.
var productMethods = []string{"ResolveStart", "ResolveStarted", "Activity", "Orchestrations", "Admits", "Contains"}

// releasedPrefix begins a comment on code that treats released runtimes differently from modelled builds. After it, the
// comment says what is treated differently and, after a colon, how; docs/real-nodes.md lists these comments.
const releasedPrefix = "On released nodes, "

func TestJudges(t *testing.T) {
	m := loadModule(t)
	report(t, checkJudges(m))
	for asked := range asksProduct {
		if !m.asked[asked] {
			t.Errorf("asksProduct: nothing asks %s any more: remove it", asked)
		}
	}
}

// checkJudges reports judges that ask the code that they judge, except for asksProduct, and those that treat released
// builds differently without saying so.
func checkJudges(m *module) []finding {
	var out []finding
	m.asked = map[string]bool{}
	for _, s := range m.sources {
		helps := s.dir == "sim/cluster" && slices.Contains([]string{"clients.go", "raise.go", "explain.go"}, path.Base(s.name))
		if s.test || !strings.HasPrefix(s.dir, "properties") && !helps {
			continue
		}
		said := map[int]bool{} // the lines directly below comments on released nodes
		for _, group := range s.ast.Comments {
			said[m.fset.Position(group.End()).Line+1] = strings.HasPrefix(group.Text(), releasedPrefix)
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if x, ok := n.X.(*ast.SelectorExpr); ok && x.Sel.Name == "Release" && (n.Op == token.EQL || n.Op == token.NEQ) && !said[m.line(n)] {
					out = append(out, finding{s.name, m.line(n), "released builds are treated in another way: say above it what, how and why (\"// " + releasedPrefix + "S01: ...\")"})
				}
			case *ast.CallExpr:
				if asked := asks(n); asked != "" && (helps || strings.HasPrefix(s.dir, "properties/internal/")) {
					m.asked[s.dir+" "+asked] = true
					if asksProduct[s.dir+" "+asked] == "" {
						out = append(out, finding{s.name, m.line(n), fmt.Sprintf("a checker calls %s, which it judges: state the rule apart", asked)})
					}
				}
			}
			return true
		})
	}
	return out
}

// asks returns what a call asks of the product, if anything.
func asks(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if of, ok := sel.X.(*ast.Ident); ok && (of.Name == "machine" || of.Name == "replay") {
		return of.Name + "." + sel.Sel.Name
	}
	if slices.Contains(productMethods, sel.Sel.Name) && (len(call.Args) == 1 || sel.Sel.Name != "Admits" && sel.Sel.Name != "Contains") { // the checkers' own, and slices.Contains, have two
		return "." + sel.Sel.Name
	}
	return ""
}
