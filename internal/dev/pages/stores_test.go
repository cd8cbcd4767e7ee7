package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
)

// row is a row in a table of planted bugs: a bug's id and what a test has detected.
type row struct{ id, seen string }

// rows reads such a table. If there is a dash after the id, the bug was not detected, and the reason follows.
func rows(name string) []row {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return []row{{err.Error(), ""}}
	}
	var list []row
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		id, seen, _ := strings.Cut(line, " ")
		list = append(list, row{id, seen})
	}
	return list
}

const overStore = "properties/internal/secondjudge/testdata/over-store.txt"

// overStoreTable lists how each property that a bug of a store breaks works with a provider other than durosim's own store.
func overStoreTable() string {
	seen := rows(overStore)
	b := table("holds", "property: itself + `provider` of the bugs of a store")
	by := map[string][]string{}
	for _, p := range properties.Catalogue() {
		bugs, itself, answers := 0, 0, 0
		for _, r := range seen {
			bug, _ := faults.Lookup(faults.BugID(r.id))
			if !slices.Contains(bug.Properties, p.ID) {
				continue
			}
			bugs++
			switch ids := strings.Fields(r.seen); {
			case ids[0] == "-":
			case slices.Contains(ids, p.ID):
				itself++
			default:
				answers++
			}
		}
		holds := "in part"
		switch {
		case bugs == 0:
			continue
		case bugs == itself:
			holds = "in full"
		case itself+answers == 0:
			holds = "not seen"
		case itself == 0:
			holds = "by answers"
		}
		by[holds] = append(by[holds], fmt.Sprintf("%s %d + %d of %d", p.ID, itself, answers, bugs))
	}
	for _, holds := range []string{"in full", "in part", "by answers", "not seen"} {
		b.row(holds, strings.Join(by[holds], "; "))
	}
	return b.String()
}
