package safety

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/sim/cluster"
)

// TestSafeStories runs the stories in testdata/ID.txt. A block consists of a title, a story and, below a line ----, the
// expected violations. A story titled ID_ok has no violations. In a story titled ID_bad, the first violation is one of
// ID.
func TestSafeStories(t *testing.T) {
	told := map[string]bool{}
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		id := strings.TrimSuffix(filepath.Base(file), ".txt")
		if !strings.HasPrefix(id, "S") {
			return
		}
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			m := tellStory(t, d.Input)
			checkTitle(t, id, d.Cmd, m.Violations())
			told[d.Cmd] = true
			return foundText(m.Violations())
		})
	})
	for _, id := range IDs() {
		if id == "S29" || id == "S30" {
			continue // told by TestOutputsOfBuilds and TestSchemas
		}
		for _, half := range []string{id + "_ok", id + "_bad"} {
			if id != "S22" && !told[half] {
				t.Errorf("no story is titled %s", half)
			}
		}
	}
}

func checkTitle(t *testing.T, id, head string, found []cluster.Violation) {
	switch head {
	case id + "_ok":
		if len(found) > 0 {
			t.Errorf("%s found in a good story: %s", found[0].Property, found[0].Message)
		}
	case id + "_bad":
		if len(found) == 0 || found[0].Property != id {
			t.Errorf("found %+v; want a violation of %s first", found, id)
		}
	default:
		t.Errorf("a title begins with %s_ok or %s_bad", id, id)
	}
}

func foundText(found []cluster.Violation) string {
	if len(found) == 0 {
		return "nothing"
	}
	var lines []string
	for _, v := range found {
		item := ""
		if v.WorkItem != "" {
			item = " item=" + strings.ReplaceAll(v.WorkItem, " ", "_")
		}
		lines = append(lines, fmt.Sprintf("%s node=%s instance=%s%s\n  %s", v.Property, v.Node, v.Instance, item, v.Message))
	}
	return strings.Join(lines, "\n")
}
