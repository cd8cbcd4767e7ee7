package tidy

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// judged are functions that checkers judge, and so must not call: a checker that asks the code under test what is right
// finds nothing wrong. A method is written .Name; what stands for it follows.
var judged = map[string]string{
	".Admits":                 "model.Admits",
	"machine.RenewalInterval": "renewedAfterMs",
	"replay.KVAfter":          "keysAfter",
	"replay.Verify":           "turn.Check, for all that a turn says without its code",
}

// mayCall lists the checkers that have to call the code that they judge, with the reason.
var mayCall = map[string]string{
	// S11 asks that the engine replays its own histories on every build: that is a question to the engine. What a turn may
	// record is stated apart from it, in properties/oracle/turn (S24).
	"properties/internal/safety/replay.go replay.Verify": "S11",
}

// checkJudges reports checkers that call the code that they judge.
func checkJudges(m *module) []finding {
	var out []finding
	for _, s := range m.sources {
		if s.test || !strings.HasPrefix(s.dir, "properties/internal/") {
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
			name := "." + sel.Sel.Name
			if id, is := sel.X.(*ast.Ident); is && judged[id.Name+name] != "" {
				name = id.Name + name
			}
			own, is := judged[name]
			if is && mayCall[s.name+" "+name] == "" && (name != ".Admits" || len(call.Args) == 1) { // other methods of that name have two
				out = append(out, finding{s.name, m.line(call), fmt.Sprintf("a checker calls %s, which it judges: use %s, or state the rule apart", strings.TrimPrefix(name, "."), own)})
			}
			return true
		})
	}
	return out
}

func TestJudges(t *testing.T) { report(t, checkJudges(loadModule(t))) }
