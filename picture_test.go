package durosim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim"
)

// The page that the environment asks for shows the smallest failing run with a command that repeats it, or the first
// seed if none fails.
func TestPage(t *testing.T) {
	for text, want := range map[string][]string{
		"scenario held\nnode A runs 1.5.0\ninstance leaf runs Leaf\n":                 {"<title>held, seed 1</title>", "DUROSIM_SEED=1 go test", `class="good"`},
		"scenario lost\nnode A runs 1.5.0\ninstance leaf runs Leaf\nat 10ms stop A\n": {"<title>lost, smallest plan</title>", "outcome is violated", `class="bad"`},
	} {
		file := filepath.Join(t.TempDir(), "page.html")
		t.Setenv(durosim.EnvHTML, file)
		r := runTest(durosim.Config{Scenario: text, Seeds: 2, ShrinkRuns: 1})
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err, r.text)
		}
		for _, w := range want {
			if !strings.Contains(string(data), w) {
				t.Errorf("the page lacks %q; the report is\n%s", w, r.text)
			}
		}
	}
	t.Setenv(durosim.EnvHTML, filepath.Join(t.TempDir(), "missing", "page.html"))
	for end, want := range map[string]string{"": "every property holds", "at 10ms stop A\n": "The smallest plan found"} {
		r := runTest(durosim.Config{Scenario: "node A runs 1.5.0\ninstance leaf runs Leaf\n" + end, Seeds: 1, ShrinkRuns: 1})
		if !r.failed || !strings.HasPrefix(r.text, "durosim: DUROSIM_HTML: open ") || !strings.Contains(r.text, want) {
			t.Errorf("where nothing can be written: failed %v, %s", r.failed, r.text)
		}
	}
}

func TestPageOfStoredRun(t *testing.T) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "seeds", "*.txt"))
	if err != nil || len(seeds) == 0 {
		t.Fatal(seeds, err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	t.Setenv(durosim.EnvHTML, file)
	t.Setenv(durosim.EnvPlan, seeds[0])
	r := runTest(durosim.Config{})
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), "<title>"+seeds[0]) || r.failed != strings.Contains(string(data), `class="bad"`) {
		t.Errorf("%v, the report is\n%s", err, r.text)
	}
}
