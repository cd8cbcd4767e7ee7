package tidy

import (
	"bytes"
	"flag"
	"fmt"
	"go/constant"
	"go/format"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/exp/apidiff"
)

var release = flag.String("release", "", "record the exported API as that of this version, such as 0.2.0")

// apiRecord is the exported API of the last release. It has one file per package, with declarations but no function
// bodies.
const apiRecord = "testdata/api.txtar"

// TestStability checks a promise in README.md: the exported API differs from that of the last release only as
// CHANGELOG.md says.
func TestStability(t *testing.T) {
	m := loadModule(t)
	if *release != "" {
		if err := os.WriteFile(apiRecord, txtar.Format(recordAPI(m, *release)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	record, err := txtar.ParseFile(apiRecord)
	if err != nil {
		t.Fatal(err)
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkAPI(m, record, string(changelog)))
}

// checkAPI compares the module with the recorded API.
func checkAPI(m *module, record *txtar.Archive, changelog string) []finding {
	_, unreleased, _ := strings.Cut(changelog, "\n## Unreleased\n")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	listed := func(dir, name string) bool {
		for ; name != ""; name = name[:max(strings.LastIndex(name, "."), 0)] {
			if strings.Contains(unreleased, "`"+dir+"."+name+"`") {
				return true
			}
		}
		return strings.Contains(unreleased, "`"+dir+".*`")
	}
	old, err := load(recorded(record))
	if err != nil {
		return []finding{{apiRecord, 0, err.Error()}}
	}
	var out []finding
	dirs := m.dirs()
	for _, dir := range old.dirs() {
		if !isPublic(dir) {
			continue
		}
		report := apidiff.Report{Changes: []apidiff.Change{{Message: "*: removed, with the package"}}}
		if slices.Contains(dirs, dir) {
			report = apidiff.Changes(old.check(dir).pkg, m.check(dir).pkg)
		}
		for _, c := range report.Changes {
			name, _, _ := strings.Cut(c.Message, ":")
			if !c.Compatible && !listed(dir, receiver.ReplaceAllString(name, "$1")) {
				out = append(out, finding{path.Join(dir, "doc.go"), 0, fmt.Sprintf("no longer compatible with the last release: %s; keep it, or list `%s.%s` in CHANGELOG.md, Unreleased",
					c.Message, dir, receiver.ReplaceAllString(name, "$1"))})
			}
		}
	}
	return out
}

// recorded returns a record as a file tree.
func recorded(a *txtar.Archive) fs.FS {
	tree := fstest.MapFS{}
	for _, f := range a.Files {
		tree[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return tree
}

// receiver matches a pointer receiver as apidiff writes it, and any text after the name of a change.
var receiver = regexp.MustCompile(`\(\*(\w+)\)|, method set of.*$`)

// isPublic reports whether other modules can import the package in a directory.
func isPublic(dir string) bool {
	elements := strings.Split(dir, "/")
	return !slices.Contains(elements, "internal") && (elements[0] != "cmd" || len(elements) > 2)
}

// recordAPI returns the exported API of the public packages, and of the declarations in other packages that it depends
// on.
func recordAPI(m *module, version string) *txtar.Archive {
	a := &txtar.Archive{Comment: []byte("The exported API of release " + version + ". At a release: go -C internal/dev test ./tidy -run TestStability -release VERSION\n")}
	var dirs []string
	for _, dir := range m.dirs() {
		if isPublic(dir) {
			dirs = append(dirs, dir)
		}
	}
	for i := 0; i < len(dirs); i++ {
		w := &apiWriter{pkg: m.check(dirs[i]).pkg, imports: map[string]string{}}
		if w.pkg == nil || w.pkg.Name() == "main" {
			continue
		}
		a.Files = append(a.Files, txtar.File{Name: path.Join(dirs[i], "api.go"), Data: w.write()})
		for importPath := range w.imports {
			if dir, ok := strings.CutPrefix(importPath, modulePath+"/"); ok && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(a.Files, func(x, y txtar.File) int { return strings.Compare(x.Name, y.Name) })
	return a
}

// apiWriter writes a package's exported API as Go declarations.
type apiWriter struct {
	pkg     *types.Package
	imports map[string]string // package names, by path
	body    bytes.Buffer
	// queue lists the names to declare: those exported, and what their declarations name.
	queue []string
}

func (w *apiWriter) write() []byte {
	for _, name := range w.pkg.Scope().Names() {
		if token.IsExported(name) {
			w.queue = append(w.queue, name)
		}
	}
	for i := 0; i < len(w.queue); i++ { // writing a declaration may add more to the queue
		w.object(w.pkg.Scope().Lookup(w.queue[i]))
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "package %s\n\n", w.pkg.Name())
	for _, importPath := range slices.Sorted(maps.Keys(w.imports)) {
		fmt.Fprintf(&head, "import %s %q\n", w.imports[importPath], importPath)
	}
	text, err := format.Source(append(append(head.Bytes(), '\n'), w.body.Bytes()...))
	if err != nil {
		panic(fmt.Sprintf("%v\n%s", err, w.body.Bytes()))
	}
	return text
}

func (w *apiWriter) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		typ := ""
		if b, ok := o.Type().(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
			typ = " " + w.typ(o.Type())
		}
		value := o.Val().ExactString()
		if o.Val().Kind() == constant.Float {
			value = o.Val().String()
		}
		fmt.Fprintf(&w.body, "const %s%s = %s\n", o.Name(), typ, value)
	case *types.TypeName:
		w.typeDecl(o)
	default:
		fmt.Fprintf(&w.body, "%s\n", w.noting(types.ObjectString(o, w.qualify)))
	}
}

func (w *apiWriter) typeDecl(o *types.TypeName) {
	named, ok := o.Type().(*types.Named)
	if !ok || o.IsAlias() {
		fmt.Fprintf(&w.body, "\n%s\n", w.noting(types.ObjectString(o, w.qualify)))
		return
	}
	fmt.Fprintf(&w.body, "\ntype %s", o.Name())
	separator := "["
	for p := range named.TypeParams().TypeParams() {
		fmt.Fprintf(&w.body, "%s%s %s", separator, p.Obj().Name(), w.typ(p.Constraint()))
		separator = ", "
	}
	if separator != "[" {
		w.body.WriteString("]")
	}
	fmt.Fprintf(&w.body, " %s\n", w.underlying(named.Underlying()))
	for f := range named.Methods() {
		if f.Exported() {
			fmt.Fprintf(&w.body, "func (%s) %s%s\n", w.typ(f.Signature().Recv().Type()), f.Name(), strings.TrimPrefix(w.typ(f.Type()), "func"))
		}
	}
}

// underlying returns the text that follows a type's name. It does not list a struct's unexported fields; it only says
// whether there are any, and whether values can be compared.
func (w *apiWriter) underlying(t types.Type) string {
	s, ok := t.(*types.Struct)
	if !ok {
		return w.typ(t)
	}
	var b strings.Builder
	b.WriteString("struct {\n")
	hidden := ""
	for f := range s.Fields() {
		switch {
		case f.Embedded():
			fmt.Fprintf(&b, "%s\n", w.typ(f.Type()))
		case f.Exported():
			fmt.Fprintf(&b, "%s %s\n", f.Name(), w.typ(f.Type()))
		case types.Comparable(f.Type()) && hidden == "":
			hidden = "_ int\n"
		case !types.Comparable(f.Type()):
			hidden = "_ func()\n"
		}
	}
	return b.String() + hidden + "}"
}

func (w *apiWriter) typ(t types.Type) string { return w.noting(types.TypeString(t, w.qualify)) }

func (w *apiWriter) qualify(p *types.Package) string {
	if p == w.pkg {
		return ""
	}
	w.imports[p.Path()] = p.Name()
	return p.Name()
}

// noting queues the types of this package that a text names, and returns the text. Any word that is the name of a type
// counts, which is simpler than walking types, and at worst records one too many.
func (w *apiWriter) noting(text string) string {
	for _, name := range word.FindAllString(text, -1) {
		if _, ok := w.pkg.Scope().Lookup(name).(*types.TypeName); ok && !slices.Contains(w.queue, name) {
			w.queue = append(w.queue, name)
		}
	}
	return text
}

var word = regexp.MustCompile(`\w+`)

// TestStabilityFinds checks that changes to the API are reported.
func TestStabilityFinds(t *testing.T) {
	old := "package node\n\ntype T struct{ A, B int }\n\nfunc (*T) M(x int) {}\n\nfunc F() int { return 0 }\n\nconst C = 1\n\nvar hidden int\n"
	before, err := load(fstest.MapFS{"engine/node/x.go": &fstest.MapFile{Data: []byte(old)}})
	if err != nil {
		t.Fatal(err)
	}
	record := recordAPI(before, "0.1.0")
	for _, c := range []struct {
		name, from, to, changelog, want string
	}{
		{"nothing", "", "", "", ""},
		{"unexported", "var hidden int", "", "", ""},
		{"new function", "var hidden int", "func G() {}", "", ""},
		{"new field", "A, B int", "A, B, D int", "", ""},
		{"removed function", "func F() int { return 0 }", "", "", "F: removed; keep it, or list `engine/node.F`"},
		{"removed field", "A, B int", "A int", "", "T.B: removed; keep it, or list `engine/node.T.B`"},
		{"method's argument", "M(x int)", "M(x int64)", "", "list `engine/node.T.M`"},
		{"constant", "C = 1", "C = 2", "", "C: value changed from 1 to 2"},
		{"removed package", "package node", "", "", "removed, with the package; keep it, or list `engine/node.*`"},
		{"listed", "C = 1", "C = 2", "- `engine/node.C` is 2.\n", ""},
		{"listed with its type", "A, B int", "A int", "- `engine/node.T` is another.\n", ""},
		{"listed with its package", "C = 1", "C = 2", "- All is new: `engine/node.*`.\n", ""},
		{"listed elsewhere", "C = 1", "C = 2", "- `engine.C` is 2.\n", "list `engine/node.C`"},
		{"listed in another release", "C = 1", "C = 2", "\n## 0.1.0\n\n- `engine/node.C` is 2.\n", "list `engine/node.C`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"engine/node/x.go": strings.Replace(old, c.from, c.to, 1)}
			if c.name == "removed package" {
				files = nil
			}
			planted{"", func(m *module) []finding {
				return checkAPI(m, record, "# Changelog\n\n## Unreleased\n\n"+c.changelog)
			}, files, c.want}.test(t)
		})
	}
}
