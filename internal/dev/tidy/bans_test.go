package tidy

import (
	"fmt"
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
	insteadOfInit    = "do it where the value is made"
	insteadOfPull    = "coroutines live in engine/replay; call replay.Turn"
	insteadOfBug     = "put the rule into the Rules table of the package that owns it, and let faults replace it"
)

// bannedImports lists packages that are a hidden input however they are used.
var bannedImports = map[string]string{
	"sync":                  insteadOfGo,
	"sync/atomic":           insteadOfGo,
	"testing/synctest":      insteadOfGo,
	"math/rand":             insteadOfRandom,
	"math/rand/v2":          insteadOfRandom,
	"crypto/rand":           insteadOfRandom,
	"hash/maphash":          insteadOfRandom,
	"golang.org/x/exp/rand": insteadOfRandom,
	"os":                    insteadOfOS,
	"os/exec":               insteadOfOS,
	"os/signal":             insteadOfOS,
	"os/user":               insteadOfOS,
	"syscall":               insteadOfOS,
	"net":                   insteadOfOS,
	"net/http":              insteadOfOS,
	"unsafe":                insteadOfPointer,
	"log":                   insteadOfPrint,
	"log/slog":              insteadOfPrint,
	"encoding/gob":          insteadOfMap,
}

// bannedNames lists functions and types in the standard library that are hidden inputs.
var bannedNames = map[string]string{
	"time.Now": insteadOfClock, "time.Since": insteadOfClock, "time.Until": insteadOfClock,
	"time.Sleep": insteadOfClock, "time.After": insteadOfClock, "time.AfterFunc": insteadOfClock,
	"time.Tick": insteadOfClock, "time.NewTicker": insteadOfClock, "time.NewTimer": insteadOfClock,
	"time.Time": insteadOfTime, "time.Local": insteadOfTime,
	"context.WithTimeout": insteadOfClock, "context.WithTimeoutCause": insteadOfClock,
	"context.WithDeadline": insteadOfClock, "context.WithDeadlineCause": insteadOfClock,
	"context.AfterFunc": insteadOfGo,
	"fmt.Print":         insteadOfPrint, "fmt.Printf": insteadOfPrint, "fmt.Println": insteadOfPrint,
	"maps.Keys": insteadOfMap, "maps.Values": insteadOfMap, "maps.All": insteadOfMap, "maps.DeleteFunc": insteadOfMap,
	"runtime.SetFinalizer": insteadOfGo, "runtime.AddCleanup": insteadOfGo, "runtime.Gosched": insteadOfGo,
	"runtime.NumGoroutine": insteadOfOS, "runtime.NumCPU": insteadOfOS, "runtime.GOMAXPROCS": insteadOfOS,
	"runtime.ReadMemStats": insteadOfOS, "runtime.GC": insteadOfOS,
	"iter.Pull": insteadOfPull, "iter.Pull2": insteadOfPull,
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
	rules permits
	lifts []*lift
	out   []finding
	// sorted holds the calls whose results are passed to a sorter.
	sorted map[ast.Node]bool
}

// bans checks a module's deterministic packages for banned code.
func bans(m *module, permitted func(s *source) permits) []finding {
	var out []finding
	for _, dir := range m.dirs() {
		var info *types.Info
		for _, s := range m.sources {
			if s.dir != dir || s.test {
				continue
			}
			p := permitted(s)
			if p.everything {
				continue
			}
			if info == nil {
				info = m.check(dir).info
			}
			b := &banned{m: m, s: s, info: info, rules: p, sorted: map[ast.Node]bool{}}
			b.run()
			out = append(out, b.out...)
		}
	}
	return out
}

func (b *banned) run() {
	for _, group := range b.s.ast.Comments {
		for _, c := range group.List {
			if text, ok := strings.CutPrefix(c.Text, "//tidy:"); ok {
				b.lift(c, text)
			}
		}
	}
	for _, imp := range b.s.imports(b.m) {
		if instead, ok := bannedImports[imp.path]; ok && !slices.Contains(b.rules.imports, imp.path) {
			b.out = append(b.out, finding{b.s.name, imp.line, fmt.Sprintf("imports %s: %s", imp.path, instead)})
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

func (b *banned) lift(c *ast.Comment, text string) {
	word, reason, _ := strings.Cut(text, " ")
	switch {
	case word != "ordered" && word != "float":
		b.add(c, "//tidy:"+word+": expected //tidy:ordered or //tidy:float")
	case strings.TrimSpace(reason) == "":
		b.add(c, "//tidy:"+word+" without a reason")
	default:
		b.lifts = append(b.lifts, &lift{word: word, line: b.m.line(c)})
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

func (b *banned) node(n ast.Node) {
	if !b.rules.goroutines {
		switch n := n.(type) {
		case *ast.GoStmt:
			b.add(n, "go statement: "+insteadOfGo)
		case *ast.ChanType:
			b.add(n, "channel: "+insteadOfGo)
		case *ast.SelectStmt:
			b.add(n, "select: "+insteadOfGo)
		case *ast.SendStmt:
			b.add(n, "channel send: "+insteadOfGo)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				b.add(n, "channel receive: "+insteadOfGo)
			}
		}
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
	case *ast.CallExpr:
		b.call(n)
	case *ast.SelectorExpr:
		b.selector(n)
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			b.add(n, "init: "+insteadOfInit)
		}
	}
	if e, ok := n.(ast.Expr); ok && b.isFloat(e) {
		b.unless("float", n, "floating point: "+insteadOfFloat)
	}
}

func (b *banned) call(n *ast.CallExpr) {
	if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
		if _, builtin := b.info.Uses[id].(*types.Builtin); builtin {
			b.add(n, id.Name+": "+insteadOfPrint)
		}
	}
	if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(sorters, b.qualified(sel)) {
		for _, arg := range n.Args {
			if c, ok := arg.(*ast.CallExpr); ok {
				b.sorted[c.Fun] = true
			}
		}
	}
}

func (b *banned) selector(n *ast.SelectorExpr) {
	name := b.qualified(n)
	if instead, ok := bannedNames[name]; ok && !slices.Contains(b.rules.names, name) && !b.sorted[n] {
		if instead == insteadOfMap {
			b.unless("ordered", n, name+": "+instead)
		} else {
			b.add(n, name+": "+instead)
		}
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
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if p, ok := t.(*types.TypeParam); ok {
		maps := false
		for u := range typeSet(p) {
			maps = maps || isMap(u)
		}
		return maps
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// typeSet yields the types listed in a type parameter's constraint.
func typeSet(p *types.TypeParam) func(yield func(types.Type) bool) {
	return func(yield func(types.Type) bool) {
		c, ok := p.Constraint().Underlying().(*types.Interface)
		if !ok {
			return
		}
		for i := range c.NumEmbeddeds() {
			switch e := c.EmbeddedType(i).(type) {
			case *types.Union:
				for j := range e.Len() {
					if !yield(e.Term(j).Type()) {
						return
					}
				}
			default:
				if !yield(e) {
					return
				}
			}
		}
	}
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
