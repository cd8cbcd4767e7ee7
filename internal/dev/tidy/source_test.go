package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/durosim/durosim"

// root is the module's root.
const root = "../../.."

// theModule reads the module that contains the tests. It does so only once.
var theModule = sync.OnceValues(func() (*module, error) { return load(os.DirFS(root)) })

func loadModule(t *testing.T) *module {
	t.Helper()
	m, err := theModule()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

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

func report(t *testing.T, found []finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

// source is one Go file.
type source struct {
	name string // path relative to the module's root
	dir  string
	test bool
	ast  *ast.File
}

// module is the parsed module: its Go files, and the text of all files.
type module struct {
	fset *token.FileSet
	// sources is sorted by name.
	sources []*source
	// texts holds all files without NUL bytes, including Go files, sorted by name.
	texts []text
	// checked holds the directories that have been type-checked, without their tests.
	checked map[string]*checked
	// asked holds what checkJudges has seen judges ask.
	asked map[string]bool
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
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			return err
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
		m.sources = append(m.sources, &source{name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), ast: file})
		return err
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

// importPath returns the path that an import names.
func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value)
	return p
}
