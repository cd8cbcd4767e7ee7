package tidy

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"strings"
	"testing"
)

// TestPublicTypesCanBeNamed checks that the exported API of public packages mentions no type that code in other modules
// cannot name.
func TestPublicTypesCanBeNamed(t *testing.T) {
	m := loadModule(t)
	report(t, unnameable(m, m.dirs()))
}

// unnameable finds exported declarations that mention a type that is unexported or belongs to an internal package.
func unnameable(m *module, dirs []string) (out []finding) {
	for _, dir := range dirs {
		if isInternal(dir) || strings.HasPrefix(dir, "examples") {
			continue
		}
		pkg := m.check(dir).pkg
		if pkg.Name() == "main" {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			v := mentions{tell: func(what *types.TypeName, where types.Object) {
				at := m.fset.Position(where.Pos())
				out = append(out, finding{at.Filename, at.Line, fmt.Sprintf(
					"%s.%s mentions %s, which no program outside the module can name: export it, or leave it out", pkg.Name(), where.Name(), what.Name())})
			}}
			v.declaration(o)
		}
	}
	return out
}

func isInternal(dir string) bool {
	return strings.Contains("/"+path.Join(dir)+"/", "/internal/")
}

// mentions searches the types in declarations.
type mentions struct {
	tell func(what *types.TypeName, where types.Object)
}

// declaration checks an exported object or, for a type, its exported fields and methods as well.
func (v mentions) declaration(o types.Object) {
	if name, ok := o.(*types.TypeName); ok && name.IsAlias() {
		return
	}
	named, ok := o.Type().(*types.Named)
	if _, isType := o.(*types.TypeName); !isType || !ok {
		v.in(o.Type(), o)
		return
	}
	for method := range named.Methods() {
		if method.Exported() {
			v.in(method.Type(), method)
		}
	}
	v.in(named.Underlying(), o)
}

// in finds the types in t that cannot be named.
func (v mentions) in(t types.Type, where types.Object) {
	if alias, ok := t.(*types.Alias); ok && alias.Obj().Exported() && !isInternal(alias.Obj().Pkg().Path()) {
		return // an alias that other packages can write
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		o := t.Obj()
		if o.Pkg() != nil && (o.Pkg().Path() == modulePath || strings.HasPrefix(o.Pkg().Path(), modulePath+"/")) &&
			(!token.IsExported(o.Name()) || isInternal(strings.TrimPrefix(o.Pkg().Path(), modulePath))) {
			v.tell(o, where)
		}
		for arg := range t.TypeArgs().Types() {
			v.in(arg, where)
		}
	case *types.Pointer:
		v.in(t.Elem(), where)
	case *types.Slice:
		v.in(t.Elem(), where)
	case *types.Array:
		v.in(t.Elem(), where)
	case *types.Chan:
		v.in(t.Elem(), where)
	case *types.Map:
		v.in(t.Key(), where)
		v.in(t.Elem(), where)
	case *types.Signature:
		for p := range t.Params().Variables() {
			v.in(p.Type(), where)
		}
		for r := range t.Results().Variables() {
			v.in(r.Type(), where)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				v.in(f.Type(), f)
			}
		}
	case *types.Interface:
		for method := range t.ExplicitMethods() {
			if method.Exported() {
				v.in(method.Type(), method)
			}
		}
	}
}
