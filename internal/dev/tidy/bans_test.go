package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// What to use instead of each banned thing. The table in docs/architecture.md#determinism gives the reasons.
const (
	insteadOfGo      = "write a kernel event: one task runs, the seed picks it"
	insteadOfClock   = "take the time as an argument or as a field of the input"
	insteadOfTime    = "keep an int64 in the unit that the package states, or a time.Duration"
	insteadOfRandom  = "make a keyed draw of the kernel (sim.Draw); derive ids from parent and sequence"
	insteadOfOS      = "take what you need as an argument from cmd/simrun"
	insteadOfPrint   = "return it; cmd/simrun prints"
	insteadOfMap     = "range over sorted keys (slices.Sorted(maps.Keys(m))) or keep a slice and an index map; if order cannot matter, say why in //tidy:ordered REASON"
	insteadOfPointer = "give it an id or a String method"
	insteadOfFloat   = "use a ratio of integers; if the value is only shown, say so in //tidy:float REASON"
	insteadOfPull    = "coroutines live in engine/replay; call replay.Turn"
	insteadOfBug     = "put the rule into the Rules table of the package that owns it, and let faults replace it"
)

// hidden lists what is a hidden input however it is used: packages by their paths, and functions and types of the standard
// library.
var hidden = []struct{ what, instead string }{
	{"sync sync/atomic testing/synctest", insteadOfGo},
	{"math/rand math/rand/v2 crypto/rand hash/maphash", insteadOfRandom},
	{"os os/exec os/signal os/user syscall net net/http", insteadOfOS},
	{"unsafe", insteadOfPointer},
	{"log log/slog fmt.Print fmt.Printf fmt.Println", insteadOfPrint},
	{"encoding/gob maps.Keys maps.Values maps.All maps.DeleteFunc", insteadOfMap},
	{"time.Now time.Since time.Until time.Sleep time.After time.AfterFunc time.Tick time.NewTicker time.NewTimer", insteadOfClock},
	{"context.WithTimeout context.WithTimeoutCause context.WithDeadline context.WithDeadlineCause", insteadOfClock},
	{"time.Time time.Local", insteadOfTime},
	{"context.AfterFunc runtime.SetFinalizer runtime.AddCleanup runtime.Gosched", insteadOfGo},
	{"runtime.NumGoroutine runtime.NumCPU runtime.GOMAXPROCS runtime.ReadMemStats runtime.GC", insteadOfOS},
	{"iter.Pull iter.Pull2", insteadOfPull},
}

// insteadOf returns what to use instead of a hidden input, and "" for anything else.
func insteadOf(what string) string {
	for _, h := range hidden {
		if slices.Contains(strings.Fields(h.what), what) {
			return h.instead
		}
	}
	return ""
}

// sorters lists functions that may be passed maps.Keys and the like, because they sort.
var sorters = []string{"slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc"}

// lift is a comment that lifts a ban for its own line and the next.
type lift struct {
	word string // "ordered", "float"
	line int
	used bool
}

// banned collects the banned code in a directory's non-test files.
type banned struct {
	m     *module
	s     *source
	info  *types.Info
	lifts []*lift
	out   []finding
	// sorted holds the calls whose results are passed to a sorter.
	sorted map[ast.Node]bool
}

// checkBans checks a module's deterministic packages for banned code.
func checkBans(m *module) []finding {
	var out []finding
	for _, s := range m.sources {
		if s.test || permitted(s, "all") {
			continue
		}
		b := &banned{m: m, s: s, info: m.check(s.dir).info, sorted: map[ast.Node]bool{}}
		b.run()
		out = append(out, b.out...)
	}
	return out
}

func (b *banned) run() {
	for _, group := range b.s.ast.Comments {
		for _, c := range group.List {
			text, ok := strings.CutPrefix(c.Text, "//tidy:")
			if word, reason, _ := strings.Cut(text, " "); ok && (word == "ordered" || word == "float") && reason != "" {
				b.lifts = append(b.lifts, &lift{word: word, line: b.m.line(c)})
			} else if ok {
				b.add(c, c.Text+": expected //tidy:ordered REASON or //tidy:float REASON")
			}
		}
	}
	ast.Inspect(b.s.ast, func(n ast.Node) bool {
		if n != nil {
			b.node(n)
		}
		return true
	})
	for _, l := range b.lifts {
		if !l.used {
			b.out = append(b.out, finding{b.s.name, l.line, "//tidy:" + l.word + " lifts nothing: remove it"})
		}
	}
}

// bugLiteral matches a literal that is the id of a planted bug.
var bugLiteral = regexp.MustCompile("^[`\"](engine|provider|duroxide-[0-9.]+)/[a-z0-9-]+[`\"]$")

func (b *banned) add(n ast.Node, text string) {
	b.out = append(b.out, finding{b.s.name, b.m.line(n), text})
}

// unless adds a finding unless a comment lifts the ban.
func (b *banned) unless(word string, n ast.Node, text string) {
	line := b.m.line(n)
	for _, l := range b.lifts {
		if l.word == word && (l.line == line || l.line == line-1) {
			l.used = true
			return
		}
	}
	f := finding{b.s.name, line, text}
	if !slices.Contains(b.out, f) {
		b.out = append(b.out, f)
	}
}

// concurrent says which means of concurrency a node is, if any.
func concurrent(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go statement"
	case *ast.ChanType:
		return "channel"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "channel send"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "channel receive"
		}
	}
	return ""
}

func (b *banned) node(n ast.Node) {
	if what := concurrent(n); what != "" && !permitted(b.s, "go") {
		b.add(n, what+": "+insteadOfGo)
	}
	switch n := n.(type) {
	case *ast.RangeStmt:
		switch t := b.info.TypeOf(n.X); {
		case t == nil || t == types.Typ[types.Invalid]:
			b.add(n, "range over a value whose type cannot be told without its module: give it to a variable with a declared type")
		case isMap(t):
			b.unless("ordered", n, "range over a map: "+insteadOfMap)
		}
	case *ast.BasicLit:
		if n.Kind == token.STRING && strings.Contains(n.Value, "%p") {
			b.add(n, "%p prints an address: "+insteadOfPointer)
		}
		if n.Kind == token.STRING && bugLiteral.MatchString(n.Value) && b.s.dir != "faults" {
			b.add(n, "names a planted bug: "+insteadOfBug)
		}
	case *ast.ImportSpec:
		b.input(n, importPath(n), "imports ")
	case *ast.CallExpr:
		b.call(n)
	case *ast.SelectorExpr:
		if !b.sorted[n] {
			b.input(n, b.qualified(n), "")
		}
	}
	if e, ok := n.(ast.Expr); ok && b.isFloat(e) {
		b.unless("float", n, "floating point: "+insteadOfFloat)
	}
}

func (b *banned) call(n *ast.CallExpr) {
	if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(sorters, b.qualified(sel)) {
		for _, arg := range n.Args {
			if c, ok := arg.(*ast.CallExpr); ok {
				b.sorted[c.Fun] = true
			}
		}
	}
}

// input adds a finding if what a node uses is a hidden input.
func (b *banned) input(n ast.Node, what, verb string) {
	switch instead := insteadOf(what); {
	case instead == "" || permitted(b.s, what):
	case instead == insteadOfMap:
		b.unless("ordered", n, verb+what+": "+instead)
	default:
		b.add(n, verb+what+": "+instead)
	}
}

// qualified returns package.Name for a name from another package, with the package given by its path. It returns "" for
// anything else.
func (b *banned) qualified(n *ast.SelectorExpr) string {
	if id, ok := n.X.(*ast.Ident); ok {
		if p, ok := b.info.Uses[id].(*types.PkgName); ok {
			return p.Imported().Path() + "." + n.Sel.Name
		}
	}
	return ""
}

func isMap(t types.Type) bool {
	if p, ok := t.(*types.TypeParam); ok {
		return strings.Contains(p.Constraint().Underlying().String(), "map[")
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// isFloat reports whether an expression is a floating-point or complex value or type.
func (b *banned) isFloat(e ast.Expr) bool {
	tv, ok := b.info.Types[e]
	if !ok || tv.Type == nil || tv.Value != nil && types.Identical(tv.Type, types.Typ[types.UntypedFloat]) {
		return false
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0
}
