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

// checked is the result of the type checker for a directory.
type checked struct {
	pkg  *types.Package
	info *types.Info
}

// check type-checks the non-test files of a directory, once. Errors are for the compiler to report.
func (m *module) check(dir string) *checked {
	if c, ok := m.checked[dir]; ok {
		return c
	}
	c := &checked{
		// The error of an import cycle, which checkImports reports.
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

// moduleImporter imports the module's packages from their sources and all others from their export data.
type moduleImporter struct{ m *module }

func (i moduleImporter) Import(importPath string) (*types.Package, error) {
	if dir, ok := strings.CutPrefix(importPath, modulePath+"/"); ok {
		return i.m.check(dir).pkg, nil
	}
	return imported(i.m, importPath)
}

// isStandard says whether an import path is one of the standard library: its first element has no dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// exports imports packages from the compiler's export data. Asking the go command for its files is safe from a stale test
// cache: they change with the version of Go, which is part of the test, and with go.mod, which the tests read.
var exports struct {
	sync.Mutex
	files    map[string]string // by import path
	importer types.Importer
}

// imported returns a package of another module. The first call asks for all packages that the module imports.
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

// listExports adds the files with the export data of packages, and of what those import.
func listExports(files map[string]string, wanted []string) error {
	list := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, wanted...)...)
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
