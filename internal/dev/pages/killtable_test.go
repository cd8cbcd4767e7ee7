package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
)

func init() {
	generated["survivors"] = survivors
}

// kill lists what detects a bug planted in a store.
type kill struct {
	bug faults.Bug
	// validations holds the first validation that fails in duroxide 0.1.26 and in 0.1.32, or a dash if none does.
	validations []string
	// conformance is the case that fails, and oracle says how the specification rejects an answer. If neither happens,
	// it is a dash and a reason.
	conformance, oracle string
}

// kills combines the tables of the tests that judge stores. If a bug is missing from one of them, kills reports that
// instead.
func kills() ([]kill, error) {
	find := func(name string) func(id string) (string, error) {
		list := rows(name)
		return func(id string) (string, error) {
			for _, r := range list {
				if r.id == id {
					return r.seen, nil
				}
			}
			return "", fmt.Errorf("%s has no row for %s", name, id)
		}
	}
	suite, cases, oracle := find("properties/oracle/rust/released/kills.txt"), find("properties/conformance/testdata/bugs.txt"), find("properties/oracle/search/testdata/bugs.txt")
	var list []kill
	for _, b := range faults.BugsOf("memprovider") {
		validations, err := suite(string(b.ID))
		if err != nil {
			return nil, err
		}
		k := kill{bug: b, validations: strings.Fields(validations)}
		if len(k.validations) != 2 {
			return nil, fmt.Errorf("%s: %q: want a validation of each of two releases, or a dash", b.ID, validations)
		}
		if k.conformance, err = cases(string(b.ID)); err != nil {
			return nil, err
		}
		if k.oracle, err = oracle(string(b.ID)); err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

// lives reports whether no validation detects the bug.
func (k kill) lives() bool { return k.validations[0] == "-" && k.validations[1] == "-" }

// name returns the bug's id, marked if no property of a simulation catches the bug.
func (k kill) name() string {
	mark := ""
	if !slices.ContainsFunc(faults.Catalogue(), func(b faults.Bug) bool { return b.ID == k.bug.ID }) {
		mark = "†"
	}
	return "`" + string(k.bug.ID) + "`" + mark
}

// survivors lists the bugs that no validation detects, with what the other judges say of them, and counts how many bugs
// each judge detects.
func survivors() string {
	list, err := kills()
	if err != nil {
		return err.Error() + "\n"
	}
	b := table("planted bug", "case", "oracle")
	var neither []string
	var counts, ofLiving [4]int
	living := 0
	by := func(seen string) string {
		if strings.HasPrefix(seen, "- ") {
			return "no"
		}
		return seen
	}
	for _, k := range list {
		for i, v := range append(k.validations[:2:2], k.conformance, k.oracle) {
			if !strings.HasPrefix(v, "-") {
				counts[i]++
				if k.lives() {
					ofLiving[i]++
				}
			}
		}
		if k.lives() {
			living++
			oracle := by(k.oracle)
			if k.oracle != "refused" && oracle == k.oracle {
				oracle = "refused, with " + oracle + " denied"
			}
			if by(k.conformance) == "no" && oracle == "no" {
				neither = append(neither, k.name())
			} else {
				b.row(k.name(), by(k.conformance), oracle)
			}
		}
	}
	return fmt.Sprintf("Of %d planted bugs the validations of 0.1.26 notice %d and those of 0.1.32 %d, the cases %d, the oracle %d. These %d live through both suites; the cases notice %d of them, the oracle %d:\n\n",
		len(list), counts[0], counts[1], counts[2], counts[3], living, ofLiving[2], ofLiving[3]) + b.String() +
		"\nNoticed by neither: " + strings.Join(neither, ", ") + ".\n"
}
