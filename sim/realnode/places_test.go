package realnode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
)

// What cites places in the sources of released crates, beside faults.Bugs.
var citing = []string{"docs/findings.md", "properties/oracle/rust/released/known.toml", "properties/oracle/rust/released/known-pg.toml", "docs/contract-decisions.md", "docs/contract/incidents.md", "docs/contract/runtime.md", "docs/reports/reports.toml"}

// cited matches a file and its lines, such as dispatchers/worker.rs:854-863, 611.
var cited = regexp.MustCompile(`((?:[\w/.-]*/)?[\w.-]+\.(?:rs|sql)|TODO\.md|\b(?:orch|worker|exec|re|sqlite)):(\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*)`)

// abbreviated are the files that docs/contract/incidents.md shortens.
var abbreviated = map[string]string{
	"orch": "dispatchers/orchestration.rs", "worker": "dispatchers/worker.rs", "exec": "execution.rs", "re": "replay_engine.rs", "sqlite": "sqlite.rs",
}

// place is some lines of a file of a crate, and what stands there.
type place struct {
	crate, file string // duroxide-0.1.32, src/lib.rs
	lines       string // 3396-3403
	token       string
}

func places(t *testing.T) []place {
	t.Helper()
	data := sample.Must(os.ReadFile("testdata/places.txt"))(t)
	var list []place
	crate, file := "", ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch first, rest, _ := strings.Cut(line, " "); {
		case line == "" || strings.HasPrefix(line, "#"):
		case rest == "":
			crate, file, _ = strings.Cut(first, "/")
		default:
			list = append(list, place{crate, file, first, rest})
		}
	}
	return list
}

// TestPlacesHaveTokens checks that every place that a page cites has a token, and that no token has lost its place. A
// switch's places are in the release that it names.
func TestPlacesHaveTokens(t *testing.T) {
	list := places(t)
	used := make([]bool, len(list))
	find := func(from, text, crate string) {
		for _, m := range cited.FindAllStringSubmatch(text, -1) {
			file := strings.TrimPrefix(m[1], "duroxide/") // in a report on duroxide-pg
			if long := abbreviated[file]; long != "" {
				file = long
			}
			for lines := range strings.SplitSeq(m[2], ",") {
				lines, found := strings.TrimSpace(lines), false
				for i, p := range list {
					if p.lines == lines && strings.HasSuffix("/"+p.file, "/"+file) && (crate == "" || p.crate == crate) {
						used[i], found = true, true
					}
				}
				if !found {
					t.Errorf("%s: %s:%s %s has no token in testdata/places.txt", from, m[1], lines, crate)
				}
			}
		}
	}
	for _, name := range citing {
		data := sample.Must(os.ReadFile(filepath.Join("../..", name)))(t)
		find(name, string(data), "")
	}
	for _, b := range faults.Bugs() {
		find(string(b.ID), b.Place, "duroxide-0.1.26")
		find(string(b.ID), b.Place32, "duroxide-0.1.32")
	}
	for i, p := range list {
		if !used[i] {
			t.Errorf("testdata/places.txt: no page cites %s/%s:%s", p.crate, p.file, p.lines)
		}
	}
}

// TestReleasedSources checks that each token stands at its lines in the sources that cargo has unpacked.
func TestReleasedSources(t *testing.T) {
	hosts(t)
	unpacked := map[string]string{}
	for _, manifest := range []string{"host/duroxide-0.1.26", "host/duroxide-0.1.32", "../../properties/oracle/rust/released/duroxide-pg"} {
		out, err := exec.Command("cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", filepath.Join(manifest, "Cargo.toml")).Output()
		if err != nil {
			t.Fatalf("%s: cargo metadata: %v", manifest, err)
		}
		var graph struct {
			Packages []struct {
				Name, Version string
				Manifest      string `json:"manifest_path"`
			}
		}
		if err := json.Unmarshal(out, &graph); err != nil {
			t.Fatalf("%s: cargo metadata: %v", manifest, err)
		}
		for _, p := range graph.Packages {
			unpacked[p.Name+"-"+p.Version] = filepath.Dir(p.Manifest)
		}
	}
	for _, p := range places(t) {
		data, err := os.ReadFile(filepath.Join(unpacked[p.crate], p.file))
		if err != nil {
			t.Errorf("%s/%s: %v", p.crate, p.file, err)
			continue
		}
		if at := standing(string(data), p.token); !slices.ContainsFunc(at, within(t, p.lines)) {
			t.Errorf("%s/%s:%s: %q stands at lines %v", p.crate, p.file, p.lines, p.token, at)
		}
	}
}

func standing(text, token string) (lines []int) {
	number := 0
	for line := range strings.Lines(text) {
		if number++; strings.Contains(line, token) {
			lines = append(lines, number)
		}
	}
	return lines
}

// within returns whether a line is one of "611" or "854-863".
func within(t *testing.T, lines string) func(int) bool {
	t.Helper()
	var first, last int
	if n, _ := fmt.Sscanf(lines, "%d-%d", &first, &last); n == 1 {
		last = first
	} else if n == 0 {
		t.Errorf("%q are no lines", lines)
	}
	return func(at int) bool { return first <= at && at <= last }
}
