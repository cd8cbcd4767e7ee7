package safety

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim/sim/cluster"
)

var rewrite = flag.Bool("rewrite", false, "write what the stories in testdata find")

// TestSafeStories tells the stories in testdata/ID.txt: blocks of a title, a line ----, the story, a line ====, and
// what is found. A title ID_ok finds nothing at all, ID_bad finds a violation of ID first.
func TestSafeStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	told := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, block := range strings.Split(string(data), "\n\n\n") {
			title, rest, ok := strings.Cut(strings.TrimLeft(block, "\n"), "\n----\n")
			text, want, ok2 := strings.Cut(rest, "\n====\n")
			if !ok || !ok2 {
				t.Fatalf("%s: block %q has no ---- or no ====", file, block)
			}
			head := title[strings.LastIndex(title, "\n")+1:]
			id := strings.TrimSuffix(filepath.Base(file), ".txt")
			t.Run(head, func(t *testing.T) {
				m := tellStory(t, text)
				checkTitle(t, id, head, m.Violations())
				got := foundText(m.Violations())
				if !*rewrite && strings.TrimRight(want, "\n") != got {
					t.Errorf("found:\n%s\nwant:\n%s", got, want)
				}
				if out.Len() > 0 {
					out.WriteString("\n\n")
				}
				fmt.Fprintf(&out, "%s\n----\n%s\n====\n%s\n", title, text, got)
				told[strings.SplitN(head, " ", 2)[0]] = true
			})
		}
		if *rewrite && !t.Failed() {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, id := range IDs() {
		if id == "S24" || id == "S28" {
			continue // their good and bad turns and nodes are in properties/oracle/turn and properties/internal/conduct
		}
		for _, half := range []string{id + "_ok", id + "_bad"} {
			if id != shadowID && id != "S22" && !told[half] {
				t.Errorf("no story is titled %s", half)
			}
		}
	}
}

func checkTitle(t *testing.T, id, head string, found []cluster.Violation) {
	switch {
	case strings.HasPrefix(head, id+"_ok"):
		if len(found) > 0 {
			t.Errorf("%s found in a good story: %s", found[0].Property, found[0].Message)
		}
	case strings.HasPrefix(head, id+"_bad"):
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
