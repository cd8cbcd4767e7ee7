package mutate

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Package is a loaded package: its non-test sources and their type information.
type Package struct {
	Path  string
	files []*file
	info  *types.Info
	types *types.Package
	fset  *token.FileSet
}

// file is a source file. name is the file's absolute path.
type file struct {
	name string
	src  []byte
	ast  *ast.File
}

// text returns the source code of node n.
func (f *file) text(p *Package, n ast.Node) string {
	return string(f.src[p.fset.Position(n.Pos()).Offset:p.fset.Position(n.End()).Offset])
}

// Load loads the packages with those import paths from the module in dir.
func Load(dir string, paths ...string) ([]*Package, error) {
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \" \"}}"}, paths...)...)
	list.Dir = dir
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	exports := map[string]string{}
	var wanted [][]string
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exports[f[0]] = f[1]
		for _, p := range paths {
			if p == f[0] {
				wanted = append(wanted, f)
			}
		}
	}
	if len(wanted) != len(paths) {
		return nil, errors.New("go list: not every package was found")
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []*Package
	for _, f := range wanted {
		p := &Package{Path: f[0], fset: fset, info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}}}
		var trees []*ast.File
		for name := range strings.FieldsSeq(f[3]) {
			name = filepath.Join(f[2], name)
			src, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			tree, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			p.files, trees = append(p.files, &file{name, src, tree}), append(trees, tree)
		}
		if p.types, err = (&types.Config{Importer: imports}).Check(p.Path, fset, trees, p.info); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}
