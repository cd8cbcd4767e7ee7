package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const modulePath = "github.com/durosim/durosim"

// finding is something that is not in order: where, what, and what to do instead.
type finding struct {
	file string
	line int // 0 is the whole file
	text string
}

func (f finding) String() string {
	if f.line == 0 {
		return f.file + ": " + f.text
	}
	return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.text)
}

// source is one Go file.
type source struct {
	name  string // path from the module's root
	dir   string
	test  bool
	lines int
	ast   *ast.File
}

// imports are the paths that the file imports, with their lines.
func (s *source) imports(m *module) []importLine {
	var out []importLine
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			p = spec.Path.Value
		}
		out = append(out, importLine{p, m.line(spec)})
	}
	return out
}

type importLine struct {
	path string
	line int
}

// module is the parsed module: its Go files by directory, and the text of all other files.
type module struct {
	fset *token.FileSet
	// sources are sorted by name.
	sources []*source
	// texts are all files without NUL bytes, Go files too, sorted by name.
	texts []text
	infos map[string]*types.Info
}

type text struct {
	name string
	data []byte
}

// load reads a tree. Hidden directories other than .ci are not part of it, nor is what a build leaves behind.
func load(fsys fs.FS) (*module, error) {
	m := &module{fset: token.NewFileSet(), infos: map[string]*types.Info{}}
	nested := "" // the module of its own that the walk is in
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if strings.HasPrefix(base, ".") && name != "." && base != ".ci" {
				return fs.SkipDir
			}
			if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); err == nil && name != "." {
				nested = name + "/"
			}
			return nil
		}
		if ext := path.Ext(base); !d.Type().IsRegular() || base == ".git" || ext == ".test" || ext == ".out" || ext == ".prof" {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return nil
		}
		m.texts = append(m.texts, text{name, data})
		// Examples that are modules of their own are their own: they are no part of the import graph.
		if nested != "" && strings.HasPrefix(name, nested) {
			return nil
		}
		if !strings.HasSuffix(name, ".go") || slices.Contains(strings.Split(path.Dir(name), "/"), "testdata") {
			return nil
		}
		file, err := parser.ParseFile(m.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		m.sources = append(m.sources, &source{
			name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			lines: bytes.Count(data, []byte("\n")), ast: file,
		})
		return nil
	})
	return m, err
}

func (m *module) line(n ast.Node) int { return m.fset.Position(n.Pos()).Line }

// dirs are the directories that hold Go files, sorted.
func (m *module) dirs() []string {
	var out []string
	for _, s := range m.sources {
		out = append(out, s.dir)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// info is what the type checker found out about the non-test files of a directory. Packages from elsewhere than the
// module and the standard library are empty to it; errors are for the compiler to report.
func (m *module) info(dir string) *types.Info {
	m.check(dir)
	return m.infos[dir]
}

func (m *module) check(dir string) *types.Package {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{},
		Defs:  map[*ast.Ident]types.Object{},
	}
	m.infos[dir] = info
	var files []*ast.File
	for _, s := range m.sources {
		if s.dir == dir && !s.test {
			files = append(files, s.ast)
		}
	}
	conf := types.Config{Importer: moduleImporter{m, map[string]*types.Package{}}, Error: func(error) {}}
	p, _ := conf.Check(path.Join(modulePath, dir), m.fset, files, info)
	return p
}

// moduleImporter imports the module's packages from their sources and the standard library's from theirs.
type moduleImporter struct {
	m    *module
	done map[string]*types.Package
}

func (i moduleImporter) Import(importPath string) (*types.Package, error) {
	if p := i.done[importPath]; p != nil {
		return p, nil
	}
	var p *types.Package
	var err error
	switch rest, ok := strings.CutPrefix(importPath, modulePath+"/"); {
	case ok:
		p = i.m.checked(rest)
	case isStandard(importPath):
		p, err = standard(importPath)
	default:
		p = types.NewPackage(importPath, path.Base(importPath))
		p.MarkComplete()
	}
	i.done[importPath] = p
	return p, err
}

// checked is a package of the module, for import by another. Nothing of it but its declarations is looked at.
func (m *module) checked(dir string) *types.Package {
	var files []*ast.File
	for _, s := range m.sources {
		if s.dir == dir && !s.test {
			files = append(files, s.ast)
		}
	}
	conf := types.Config{
		Importer: moduleImporter{m, map[string]*types.Package{}}, IgnoreFuncBodies: true, Error: func(error) {},
	}
	p, _ := conf.Check(path.Join(modulePath, dir), m.fset, files, nil)
	return p
}

// isStandard says whether an import path is one of the standard library: its first element has no dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

var (
	standardMu       sync.Mutex
	standardImporter = importer.ForCompiler(token.NewFileSet(), "source", nil)
)

func standard(importPath string) (*types.Package, error) {
	standardMu.Lock()
	defer standardMu.Unlock()
	return standardImporter.Import(importPath)
}
