package tidy

import (
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
)

// checked is the result of type-checking a directory.
type checked struct {
	pkg  *types.Package
	info *types.Info
}

// check type-checks a directory's non-test files, once. It ignores errors, which the compiler reports.
func (m *module) check(dir string) *checked {
	if c, ok := m.checked[dir]; ok {
		return c
	}
	c := &checked{
		// Used if there is an import cycle, which checkImports reports.
		pkg: types.NewPackage(path.Join(modulePath, dir), path.Base(dir)),
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{},
			Uses:  map[*ast.Ident]types.Object{},
			Defs:  map[*ast.Ident]types.Object{},
		},
	}
	m.checked[dir] = c
	var files []*ast.File
	for _, s := range m.sources {
		if s.dir == dir && !s.test {
			files = append(files, s.ast)
		}
	}
	conf := types.Config{Importer: moduleImporter{m}, Error: func(error) {}}
	c.pkg, _ = conf.Check(path.Join(modulePath, dir), m.fset, files, c.info)
	return c
}

// moduleImporter imports this module's packages from source, and all others from export data.
type moduleImporter struct{ m *module }

func (i moduleImporter) Import(importPath string) (*types.Package, error) {
	if dir, ok := ownDir(importPath); ok {
		return i.m.check(dir).pkg, nil
	}
	return exported.Import(importPath)
}

// exported imports what the compiler has exported. Asking the go command for its file cannot make cached test results
// stale: it depends on the Go version, which is part of the cache key, and on go.mod, which the tests read.
var exported = importer.ForCompiler(token.NewFileSet(), "gc", func(importPath string) (io.ReadCloser, error) {
	list := exec.Command("go", "list", "-export", "-f", "{{.Export}}", importPath)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	return os.Open(strings.TrimSpace(string(out)))
})

// ownDir returns the directory of a package of this module.
func ownDir(importPath string) (dir string, own bool) {
	dir, own = strings.CutPrefix(importPath+"/", modulePath+"/")
	return path.Clean(dir), own
}

// isStandard reports whether an import path belongs to the standard library, which is the case if its first element
// contains no dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
