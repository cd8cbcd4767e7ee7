package tidy

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// judged lists functions that are judged by checkers, so checkers must not call them. A checker that asks the code
// under test what is right would never find anything wrong. Methods are written as .Name. Each entry says what to use
// instead.
var judged = map[string]string{
	".Admits":                 "model.Admits",
	"machine.RenewalInterval": "renewedAfterMs",
	"replay.Verify":           "turn.Check, for all that a turn says without its code",
}

// mayCall lists the checkers that have to call the code that they judge, with reasons.
var mayCall = map[string]string{
	// S11 requires the engine to replay its own histories on every build, so it has to ask the engine. What a turn may
	// record is specified separately, in properties/oracle/turn (S24).
	"properties/internal/safety/replay.go replay.Verify": "S11",
	// The same question about histories that are wrong, whose answer is known.
	"properties/internal/safety/altered.go replay.Verify": "S11",
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
			if is && mayCall[s.name+" "+name] == "" && (name != ".Admits" || len(call.Args) == 1) { // other methods of that name have two arguments
				out = append(out, finding{s.name, m.line(call), fmt.Sprintf("a checker calls %s, which it judges: use %s, or state the rule apart", strings.TrimPrefix(name, "."), own)})
			}
			return true
		})
	}
	return out
}

func TestJudges(t *testing.T) { report(t, checkJudges(loadModule(t))) }
