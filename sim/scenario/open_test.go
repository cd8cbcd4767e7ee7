package scenario_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/durosim/durosim/sim/scenario"
)

// TestOpen checks that a name stands for a built-in scenario, for a file of either format, or for itself as a text.
func TestOpen(t *testing.T) {
	files := map[string]string{
		"own.txt":    "nodes A B run 1.5.0\n",
		"stored.txt": "# A stored run.\ndurosim corpus 1\nseed 7\nmode seeded\nverdict holds\nnodes A run 1.5.0\n",
		"wrong.txt":  "nodes A run 1.5.7\n",
	}
	source := scenario.Source{ReadFile: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}}
	for _, tc := range []struct {
		name, scenario string
		entry          bool
		err            string
		missing        bool
	}{
		{name: "", scenario: scenario.Default},
		{name: "corners", scenario: "corners"},
		{name: "own.txt", scenario: "own"},
		{name: "stored.txt", entry: true},
		{name: "nodes A run 1.5.0\ninstance i runs Chain\n", scenario: "scenario"},
		{name: "wrong.txt", err: `wrong.txt:1: unknown build "1.5.7"`},
		{name: "xyz", err: `"xyz" is neither a scenario nor a file; "simrun list scenarios" lists the built-in ones`, missing: true},
		{name: "nodes A run 1.5.0", err: `"nodes A run 1.5.0" is neither a scenario nor a file: text of a scenario has more than one line, each with one statement`, missing: true},
		{name: "nodes A run 1.5.0\nload 5 instances over 5s\n  mix 1 Chain with 1..", err: `scenario.txt:3: input "1..": a range has two ends, as in 1..9 or 1s..8s`},
		{name: "gone.txt", err: `there is no file gone.txt; "simrun list scenarios" lists the built-in ones`, missing: true},
		{name: "rolling-upgrad", err: `"rolling-upgrad" is neither a scenario nor a file; did you mean rolling-upgrade?`, missing: true},
	} {
		s, e, err := source.Open(tc.name)
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) || errors.Is(err, fs.ErrNotExist) != tc.missing {
				t.Errorf("%q: error %v, want %q, missing %t", tc.name, err, tc.err, tc.missing)
			}
		case err != nil:
			t.Errorf("%q: %v", tc.name, err)
		case tc.entry != (e != nil) || tc.entry == (s != nil):
			t.Errorf("%q: scenario %v, entry %v", tc.name, s, e)
		case s != nil && s.Name != tc.scenario:
			t.Errorf("%q: scenario %s, want %s", tc.name, s.Name, tc.scenario)
		}
	}
	if _, _, err := (scenario.Source{}).Open("own.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without files: %v", err)
	}
}
