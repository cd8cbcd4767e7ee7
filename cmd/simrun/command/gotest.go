package command

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// GoTest returns a Go file with a single test. The test replays the run and fails while the run violates a property. If
// the run uses handlers from the user's own program, a comment in the file shows where to add them.
func GoTest(e *scenario.Entry, pkg string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"testing\"\n\n\t\"github.com/durosim/durosim\"\n)\n\n", pkg)
	name := testName(e)
	fmt.Fprintf(&b, "// %s replays a stored run that once violated %s. It fails as long as the run violates anything.\n", name, e.Found)
	if e.Note != "" {
		fmt.Fprintf(&b, "//\n")
		for line := range strings.Lines(e.Note) {
			fmt.Fprintf(&b, "// %s\n", strings.TrimSpace(line))
		}
	}
	fmt.Fprintf(&b, "func %s(t *testing.T) {\n\tdurosim.Test(t, durosim.Config{\n", name)
	if len(e.Needs) > 0 {
		where := "name the function that registers them, as Handlers"
		if slices.ContainsFunc(e.Plan.Nodes, func(n plan.Node) bool { return strings.Contains(n.Build, "+") }) {
			where = "name the Applications that register them"
		}
		fmt.Fprintf(&b, "\t\t// It needs %s: %s.\n", strings.Join(e.Needs, ", "), where)
	}
	if e.Provider != "" {
		fmt.Fprintf(&b, "\t\t// It was stored over the provider %s: name the function that makes its stores, as Store.\n", e.Provider)
	}
	text := string(e.Format())
	literal := strconv.Quote(text)
	if strconv.CanBackquote(strings.ReplaceAll(text, "\n", "")) {
		literal = "`" + text + "`"
	}
	fmt.Fprintf(&b, "\t\tStored: %s,\n\t})\n}\n", literal)
	return format.Source(b.Bytes())
}

// testName returns a test name that consists of the violated property and the beginning of the entry's name.
func testName(e *scenario.Entry) string {
	name := "Test"
	for word := range strings.FieldsFuncSeq(e.Found, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name + "Run" + e.Name()[:8]
}
