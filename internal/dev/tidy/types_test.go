package tidy

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
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

// moduleImporter imports this module's packages from source and all others from export data.
type moduleImporter struct{ m *module }

func (i moduleImporter) Import(importPath string) (*types.Package, error) {
	if dir, ok := strings.CutPrefix(importPath, modulePath+"/"); ok {
		return i.m.check(dir).pkg, nil
	}
	return imported(i.m, importPath)
}

// isStandard reports whether an import path belongs to the standard library, which is the case if its first element
// contains no dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// exports imports packages from the compiler's export data. Getting the list of files from the go command cannot make
// cached test results stale. The list depends on the Go version, which is part of the cache key, and on go.mod, which
// the tests read.
var exports struct {
	sync.Mutex
	files    map[string]string // keyed by import path
	importer types.Importer
}

// imported returns a package from another module. The first call loads all external packages that the module imports.
func imported(m *module, importPath string) (*types.Package, error) {
	e := &exports
	e.Lock()
	defer e.Unlock()
	if e.importer == nil {
		e.files = map[string]string{}
		e.importer = importer.ForCompiler(token.NewFileSet(), "gc", func(p string) (io.ReadCloser, error) { return os.Open(e.files[p]) })
	}
	if _, asked := e.files[importPath]; !asked {
		wanted := []string{importPath}
		for _, s := range m.sources {
			for _, imp := range s.imports(m) {
				if !s.test && !strings.HasPrefix(imp.path, modulePath+"/") {
					wanted = append(wanted, imp.path)
				}
			}
		}
		slices.Sort(wanted)
		if err := listExports(e.files, slices.Compact(wanted)); err != nil {
			return nil, err
		}
	}
	if e.files[importPath] == "" {
		return nil, fmt.Errorf("no package %s", importPath)
	}
	return e.importer.Import(importPath)
}

// listExports adds the export data files of the wanted packages and of everything that these import.
func listExports(files map[string]string, wanted []string) error {
	list := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, wanted...)...)
	list.Dir = root
	var problems bytes.Buffer
	list.Stderr = &problems
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", list, err, &problems)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if importPath, file, ok := strings.Cut(lines.Text(), " "); ok {
			files[importPath] = file
		}
	}
	return lines.Err()
}
