package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// asksProduct lists what checkers, explanations and the recovery phase still ask the code that is judged. A mistake there
// is common to both sides: each line says what finds it all the same. A checker that asks the code under test what is
// right would never find anything wrong.
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

// productMethods are methods of the engine's registry and filters, which the checkers restate.
var productMethods = []string{"ResolveStart", "ResolveStarted", "Activity", "Orchestrations", "Admits"}

// checkJudges reports checkers that ask the code that they judge, except for asksProduct.
func checkJudges(m *module) []finding {
	var out []finding
	eachQuestion(m, func(s *source, call *ast.CallExpr, asked string) {
		if asksProduct[s.dir+" "+asked] == "" {
			out = append(out, finding{s.name, m.line(call), fmt.Sprintf("a checker calls %s, which it judges: state the rule apart", asked)})
		}
	})
	return out
}

// eachQuestion finds what judges ask the product.
func eachQuestion(m *module, see func(s *source, call *ast.CallExpr, asked string)) {
	for _, s := range m.sources {
		judge := strings.HasPrefix(s.dir, "properties/internal/")
		helps := s.dir == "sim/cluster" && slices.Contains([]string{"clients.go", "calm.go", "explain.go"}, path.Base(s.name))
		if s.test || !judge && !helps {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, plain := sel.X.(*ast.Ident)
			switch {
			case plain && (of.Name == "machine" || of.Name == "replay"):
				see(s, call, of.Name+"."+sel.Sel.Name)
			case slices.Contains(productMethods, sel.Sel.Name) && (sel.Sel.Name != "Admits" || len(call.Args) == 1): // the checkers' own has two
				see(s, call, "."+sel.Sel.Name)
			}
			return true
		})
	}
}

func TestJudges(t *testing.T) {
	m := loadModule(t)
	report(t, checkJudges(m))
	used := map[string]bool{}
	eachQuestion(m, func(s *source, _ *ast.CallExpr, asked string) { used[s.dir+" "+asked] = true })
	for asked := range asksProduct {
		if !used[asked] {
			t.Errorf("asksProduct: nothing asks %s any more: remove it", asked)
		}
	}
}
