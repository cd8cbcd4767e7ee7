package command

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompletions(t *testing.T) {
	for line, want := range map[string][]string{
		"simrun sh":                         {"shrink"},
		"simrun rolling-u":                  {"rolling-upgrade", "rolling-upgrade-risk"},
		"simrun fuzz --c":                   {"--clocks", "--contract", "--corpus", "--crashes"},
		"simrun run --faults ":              {"full", "light", "none"},
		"simrun shrink --property S0":       {"S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09"},
		"simrun list bu":                    {"bugs", "builds"},
		"simrun completion f":               {"fish"},
		"simrun replay --seed 7 rolling-up": {"rolling-upgrade", "rolling-upgrade-risk"},
		"simrun serve x":                    nil,
		"simrun compl":                      {"completion"},
	} {
		if diff := cmp.Diff(want, completions(&simrun, line)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", line, diff)
		}
	}
	if all := completions(&simrun, "simrun "); !slices.Contains(all, "run") || !slices.Contains(all, "rolling-upgrade") {
		t.Errorf("an empty word: %v, want verbs and scenarios", all)
	}
}
