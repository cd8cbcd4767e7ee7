package pages

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// root is the product's root.
const root = "../../.."

func init() {
	generated["packages"] = packageList
	generated["released"] = releasedExemptions
}

// floors returns the packages, the lowest first.
func floors() []string {
	text, err := os.ReadFile("../floors.txt")
	if err != nil {
		panic(err)
	}
	return strings.Fields(string(text))
}

// packageList lists the packages that other modules can import, highest floor first, with the first sentences of their
// comments.
func packageList() string {
	list := exec.Command("go", "list", "-f", "{{.ImportPath}} {{.Doc}}", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return fmt.Sprintf("%v: %v", list, err)
	}
	docs := map[string]string{} // only used for lookups
	for line := range strings.Lines(string(out)) {
		name, doc, _ := strings.Cut(strings.TrimSpace(line), " ")
		dir := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(name, "github.com/durosim/durosim"), "/"), ".")
		doc, _, _ = strings.Cut(doc, ": ") // an example follows
		_, doc, _ = strings.Cut(strings.TrimPrefix(doc, "Command "), strings.TrimPrefix(filepath.Base(name), "Package ")+" ")
		docs[dir] = strings.TrimRight(doc, ".:")
	}
	var b strings.Builder
	for _, dir := range slices.Backward(floors()) {
		if !strings.Contains("/"+dir, "/internal/") {
			fmt.Fprintf(&b, "- `%s` %s\n", dir, docs[dir])
		}
	}
	return b.String()
}

// releasedPrefix marks a comment on code that treats released runtimes differently from modelled builds.
const releasedPrefix = "// On released nodes, "

// releasedExemptions lists the requirements that do not apply to released runtimes, taken from these comments.
func releasedExemptions() string {
	var rows [][2]string
	for _, dir := range []string{"properties", "sim/realnode", "sim/cluster"} {
		err := fs.WalkDir(os.DirFS(filepath.Join(root, dir)), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil {
				return err
			}
			for _, block := range strings.Split(string(text), releasedPrefix)[1:] {
				what, how, _ := strings.Cut(comment(block), ": ")
				rows = append(rows, [2]string{what, strings.TrimSuffix(how, ".")})
			}
			return nil
		})
		if err != nil {
			return err.Error()
		}
	}
	slices.SortFunc(rows, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	b := table("what", "on released nodes, and why")
	for _, r := range rows {
		b.row(r[0], r[1])
	}
	return b.String()
}

// comment returns the comment at the beginning of a block, joined into one line.
func comment(block string) string {
	var words []string
	for line := range strings.Lines(block) {
		if words != nil {
			var more bool
			if line, more = strings.CutPrefix(strings.TrimSpace(line), "//"); !more {
				break
			}
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

// examples returns the texts of the product's files of examples.
func examples() (list []string, err error) {
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		base := filepath.Base(name)
		if err == nil && strings.HasPrefix(base, "example") && strings.HasSuffix(base, "_test.go") {
			var text []byte
			text, err = os.ReadFile(filepath.Join(root, name))
			list = append(list, string(text))
		}
		return err
	})
	return list, err
}
