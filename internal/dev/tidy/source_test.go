package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const modulePath = "github.com/durosim/durosim"

// finding is a mistake in the sources: where it is, what it is, and what to do instead.
type finding struct {
	file string
	line int // 0 if it concerns the whole file
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
	name  string // path relative to the module's root
	dir   string
	test  bool
	lines int
	ast   *ast.File
}

// imports returns the paths that the file imports, with line numbers.
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
	// sources is sorted by name.
	sources []*source
	// texts holds all files without NUL bytes, including Go files, sorted by name.
	texts []text
	// checked holds the directories that have been type-checked, without their tests.
	checked map[string]*checked
}

type text struct {
	name string
	data []byte
}

// load reads a file tree. It skips build output and hidden directories other than .ci.
func load(fsys fs.FS) (*module, error) {
	m := &module{fset: token.NewFileSet(), checked: map[string]*checked{}}
	nested := "" // the nested module that the walk is in, if any
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
		// Examples that are separate modules are not part of the import graph.
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

// dirs returns the directories that contain Go files, sorted.
func (m *module) dirs() []string {
	var out []string
	for _, s := range m.sources {
		out = append(out, s.dir)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
