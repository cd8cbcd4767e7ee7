package mutate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// switches is the text of a source file that is added to each mutated package. It tests which mutant is active.
const switches = `package %s

import "github.com/durosim/durosim/internal/dev/mutate/active"

func mutantIs(id int) bool { return active.Is(id) }

func mutantPick[T any](on bool, other, own T) T { return active.Pick(on, other, own) }
`

// Write writes the sources of the packages, with the mutants inserted, to dir. It returns the name of an overlay file
// for go build.
func Write(dir string, packages []*Package, mutants []*Mutant) (overlay string, err error) {
	replace := map[string]string{}
	put := func(name, text string) error {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[name] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}
	for _, p := range packages {
		for _, f := range p.files {
			var own []*Mutant
			for _, m := range mutants {
				if m.of == f {
					own = append(own, m)
				}
			}
			if err := put(f.name, f.with(p, own)); err != nil {
				return "", err
			}
		}
		if err := put(filepath.Join(filepath.Dir(p.files[0].name), "mutant_switches.go"), fmt.Sprintf(switches, p.types.Name())); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// insertion is code to insert at an offset. If several insertions have the same offset, code that ends a range comes
// before code that begins one. Beginnings are sorted from the longest range to the shortest, ends from the shortest to
// the longest.
type insertion struct {
	at, length, order int
	end               bool
	text              string
}

// with returns the file's source with the mutants inserted.
func (f *file) with(p *Package, mutants []*Mutant) string {
	var all []insertion
	for i, m := range mutants {
		test := fmt.Sprintf("mutantIs(%d)", m.ID)
		for _, s := range m.splice {
			from, to := p.fset.Position(s.from).Offset, p.fset.Position(s.to).Offset
			all = append(all,
				insertion{from, to - from, i, false, strings.ReplaceAll(s.before, on, test)},
				insertion{to, to - from, i, true, strings.ReplaceAll(s.after, on, test)})
		}
	}
	slices.SortStableFunc(all, func(a, b insertion) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.end != b.end:
			if a.end {
				return -1
			}
			return 1
		case a.end:
			return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(b.order, a.order))
		}
		return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(a.order, b.order))
	})
	var out strings.Builder
	at := 0
	for _, i := range all {
		out.Write(f.src[at:i.at])
		out.WriteString(i.text)
		at = i.at
	}
	out.Write(f.src[at:])
	return out.String()
}
