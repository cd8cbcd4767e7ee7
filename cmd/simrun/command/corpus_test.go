package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

var simrun = Program{Name: "simrun"}

// TestCorpus replays every stored plan. A changed digest is only reported; a changed verdict fails the test.
func TestCorpus(t *testing.T) {
	files := sample.Must(filepath.Glob(filepath.Join("..", "..", "..", "testdata", "seeds", "*.txt")))(t)
	if len(files) == 0 {
		t.Fatal("no stored runs in testdata/seeds")
	}
	for _, file := range sample.Of(files, 8) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := simrun.Run([]string{"replay", "--json", file}, &out, &errs); status != exitOK {
				t.Errorf("exit status %d\n%s%s", status, &out, &errs)
			}
		})
	}
}

// TestCorpusHasEveryBug checks that each planted bug has a stored run that violates one of the bug's properties.
func TestCorpusHasEveryBug(t *testing.T) {
	files := sample.Must(filepath.Glob(filepath.Join("..", "..", "..", "testdata", "seeds", "*.txt")))(t)
	var entries []*scenario.Entry
	for _, file := range files {
		data := sample.Must(os.ReadFile(file))(t)
		e := sample.Must(scenario.ParseEntry(file, data))(t)
		if e.Name() != filepath.Base(file) {
			t.Errorf("%s: expected the name %s", file, e.Name())
		}
		entries = append(entries, e)
	}
	for _, bug := range faults.Catalogue() {
		shows := func(e *scenario.Entry) bool {
			return slices.Contains(e.Plan.Bugs, bug.ID) &&
				slices.ContainsFunc(bug.Properties, func(id string) bool { return e.Found == id+" "+string(bug.ID) })
		}
		if !slices.ContainsFunc(entries, shows) {
			t.Errorf("no stored run shows %s: simrun shrink --bug %[1]s --out testdata/seeds writes one", bug.ID)
		}
	}
}
