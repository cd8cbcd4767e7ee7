package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is the kind of change that a mutant makes.
type Kind string

// The kinds of mutants.
const (
	Negated  Kind = "negated condition"
	Boundary Kind = "moved boundary"
	Logic    Kind = "and for or"
	Sum      Kind = "plus for minus"
	Missing  Kind = "missing statement"
	Swapped  Kind = "swapped arguments"
	Field    Kind = "wrong field"
)

// Mutant is a single change in a single place.
type Mutant struct {
	// ID is the mutant's number in the build, starting at 1.
	ID      int
	Path    string // the package's import path
	Package string // the last element of Path
	File    string // the file's base name
	Line    int
	Func    string
	Kind    Kind
	// Was and Is are the original source and the mutated source, each as one line.
	Was, Is string
	// Nth distinguishes otherwise identical mutants in a function. It starts at 1.
	Nth int

	of     *file
	splice []splice
}

// Key returns a name that identifies the mutant independently of line numbers and other functions.
func (m *Mutant) Key() string {
	return fmt.Sprintf("%s.%s %s %q to %q %d", m.Package, m.Func, m.Kind, m.Was, m.Is, m.Nth)
}

// splice wraps a range of source text in code. The alternatives are always copies of original source.
type splice struct {
	from, to      token.Pos
	before, after string
}

// Mutants returns the packages' mutants in source order.
func Mutants(packages []*Package) []*Mutant {
	var all []*Mutant
	for _, p := range packages {
		for _, f := range p.files {
			s := &search{p: p, f: f}
			for _, d := range f.ast.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
					s.function = name(d)
					s.walk(d.Body, nil)
				}
			}
			all = append(all, s.found...)
		}
	}
	seen := map[string]int{}
	for i, m := range all {
		m.ID, m.Nth = i+1, 0
		seen[m.Key()]++
		m.Nth = seen[m.Key()]
	}
	return all
}

func name(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
			continue
		case *ast.IndexExpr:
			t = x.X
			continue
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		}
		return d.Name.Name
	}
}

// search collects the mutants in a file.
type search struct {
	p        *Package
	f        *file
	function string
	found    []*Mutant
}

func (s *search) add(k Kind, at ast.Node, is string, splices func(on string) []splice) {
	was := s.f.text(s.p, at)
	if strings.Contains(was+is, "\n") && k != Missing {
		return // a change across several lines would shift line numbers
	}
	m := &Mutant{
		Path: s.p.Path, Package: filepath.Base(s.p.Path), File: filepath.Base(s.f.name), Line: s.p.fset.Position(at.Pos()).Line, Func: s.function,
		Kind: k, Was: oneLine(was), Is: oneLine(is), of: s.f,
	}
	m.splice = splices(on)
	s.found = append(s.found, m)
}

// on is a placeholder for the test of whether the mutant is active. It is replaced once the mutant has a number.
const on = "\x00"

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 90 {
		return string(r[:90]) + "…"
	}
	return s
}

// walk visits n and its descendants. parents holds n's ancestors, innermost last.
func (s *search) walk(n ast.Node, parents []ast.Node) {
	ast.Inspect(n, func(child ast.Node) bool {
		if child == nil || child == n {
			return true
		}
		if call, ok := child.(*ast.CallExpr); ok && s.f.text(s.p, call.Fun) == "panic" {
			return false // a panic message reports a bug in the program itself
		}
		s.visit(child, append(parents, n))
		s.walk(child, append(slices.Clip(parents), n))
		return false
	})
}

func (s *search) visit(n ast.Node, parents []ast.Node) {
	switch n := n.(type) {
	case ast.Stmt:
		s.statement(n, parents[len(parents)-1])
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.CallExpr:
		s.arguments(n)
	case *ast.SelectorExpr:
		s.field(n, parents[len(parents)-1])
	}
}

// statement searches n for conditions to mutate and statements to remove.
func (s *search) statement(n ast.Stmt, parent ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		s.condition(n.Cond)
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			s.condition(r)
		}
	case *ast.CaseClause:
		for _, c := range n.List {
			s.condition(c)
		}
	}
	switch parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	default:
		return
	}
	leave := false
	switch n := n.(type) {
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		leave = ok && s.f.text(s.p, call.Fun) != "panic"
	case *ast.AssignStmt:
		leave = n.Tok != token.DEFINE
		for _, l := range n.Lhs {
			if id, ok := l.(*ast.Ident); ok && id.Name == "_" {
				leave = false
			}
		}
	case *ast.IncDecStmt, *ast.DeferStmt:
		leave = true
	}
	if leave {
		s.add(Missing, n, "", func(on string) []splice {
			return []splice{{n.Pos(), n.End(), "if !" + on + " { ", " }"}}
		})
	}
}

// condition negates n, unless n is constant.
func (s *search) condition(n ast.Expr) {
	t := s.p.info.Types[n]
	b, ok := t.Type.(*types.Basic)
	if !ok || b.Info()&types.IsBoolean == 0 {
		return
	}
	s.add(Negated, n, "!("+s.f.text(s.p, n)+")", func(on string) []splice {
		return []splice{{n.Pos(), n.End(), "(" + on + " != (", "))"}}
	})
}

var (
	boundaries = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}
	logic      = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}
	sums       = map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD}
)

// binary replaces n's operator.
func (s *search) binary(n *ast.BinaryExpr) {
	t := s.p.info.Types[n]
	if t.Value != nil {
		return
	}
	with := func(op token.Token) string { return s.f.text(s.p, n.X) + " " + op.String() + " " + s.f.text(s.p, n.Y) }
	either := func(k Kind, op token.Token) {
		s.add(k, n, with(op), func(on string) []splice {
			return []splice{{n.Pos(), n.End(), "(" + on + " && (" + with(op) + ") || !" + on + " && (", "))"}}
		})
	}
	if op, ok := boundaries[n.Op]; ok {
		either(Boundary, op)
	}
	if op, ok := logic[n.Op]; ok {
		either(Logic, op)
	}
	b, ok := t.Type.Underlying().(*types.Basic)
	if op, is := sums[n.Op]; is && ok && b.Info()&types.IsInteger != 0 && s.pure(n.X) && s.pure(n.Y) {
		s.add(Sum, n, with(op), func(on string) []splice {
			return []splice{{n.Pos(), n.End(), "mutantPick(" + on + ", " + with(op) + ", ", ")"}}
		})
	}
}

// pure reports whether n can be evaluated twice without side effects.
func (s *search) pure(n ast.Expr) bool {
	pure := true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			tv := s.p.info.Types[n.Fun]
			pure = pure && (tv.IsType() || tv.IsBuiltin() && s.f.text(s.p, n.Fun) == "len")
		case *ast.FuncLit, *ast.CompositeLit, *ast.IndexExpr:
			pure = false
		case *ast.UnaryExpr:
			pure = pure && n.Op != token.ARROW && n.Op != token.AND
		}
		return pure
	})
	return pure
}

// arguments swaps adjacent arguments of n that have the same type.
func (s *search) arguments(n *ast.CallExpr) {
	if tv := s.p.info.Types[n.Fun]; tv.IsType() || tv.IsBuiltin() {
		return
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		ta, tb := s.p.info.Types[a], s.p.info.Types[b]
		textA, textB := s.f.text(s.p, a), s.f.text(s.p, b)
		if textA == textB || !s.value(ta) || !s.value(tb) || !types.Identical(ta.Type, tb.Type) || !s.pure(a) || !s.pure(b) {
			continue
		}
		s.add(Swapped, n, fmt.Sprintf("%s(… %s, %s …)", s.f.text(s.p, n.Fun), textB, textA), func(on string) []splice {
			return []splice{{a.Pos(), a.End(), "mutantPick(" + on + ", " + textB + ", ", ")"}, {b.Pos(), b.End(), "mutantPick(" + on + ", " + textA + ", ", ")"}}
		})
	}
}

// value reports whether t is a typed value, as opposed to a constant, nil or a tuple.
func (s *search) value(t types.TypeAndValue) bool {
	_, tuple := t.Type.(*types.Tuple)
	return t.IsValue() && t.Value == nil && !t.IsNil() && !tuple
}

// field replaces field access n with an access to another field of the same type.
func (s *search) field(n *ast.SelectorExpr, parent ast.Node) {
	sel := s.p.info.Selections[n]
	if sel == nil || sel.Kind() != types.FieldVal || len(sel.Index()) != 1 || !s.read(n, parent) || !s.pure(n.X) {
		return
	}
	t := sel.Recv()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	if _, function := sel.Type().Underlying().(*types.Signature); function {
		return
	}
	if named, ok := t.(*types.Named); ok && named.Obj().Name() == "Rules" {
		return // all rule fields have similar types; the planted bugs already check that the right one is used
	}
	for i := 1; i < st.NumFields(); i++ {
		other := st.Field((sel.Index()[0] + i) % st.NumFields())
		if !types.Identical(other.Type(), sel.Type()) || other.Name() == "_" || !other.Exported() && other.Pkg() != s.p.types {
			continue
		}
		is := s.f.text(s.p, n.X) + "." + other.Name()
		s.add(Field, n, is, func(on string) []splice {
			return []splice{{n.Pos(), n.End(), "mutantPick(" + on + ", " + is + ", ", ")"}}
		})
		return
	}
}

// read reports whether selector n is only read, never written.
func (s *search) read(n *ast.SelectorExpr, parent ast.Node) bool {
	switch p := parent.(type) {
	case *ast.BinaryExpr, *ast.ReturnStmt, *ast.KeyValueExpr, *ast.IfStmt:
		return true
	case *ast.CallExpr:
		tv := s.p.info.Types[p.Fun]
		return p.Fun != n && !tv.IsBuiltin()
	case *ast.AssignStmt:
		return slices.Contains(p.Rhs, ast.Expr(n))
	case *ast.UnaryExpr:
		return p.Op == token.NOT
	}
	return false
}
