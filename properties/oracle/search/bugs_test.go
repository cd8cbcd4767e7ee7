package search

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// find makes up to a thousand sequences until it finds a mistake. It returns how many it made, and the refusal, or nil
// if there was none.
func find(t *testing.T, f undertest.Factory, deny ...oracle.Freedom) (sequences int, refusal *oracle.Refusal) {
	t.Helper()
	r := sample.Must(Search(f, Options{Oracle: oracle.Options{Deny: deny}, Done: func() { sequences++ }}))(t)
	if finding := r.Unknown(); finding != nil {
		return sequences, finding.Refusal
	}
	return sequences, nil
}

// seen says whether an answer is rejected for each planted bug in a store. If a freedom of the contract covers the bug,
// it names that freedom, and the bug shows only if the freedom is denied. If no answer shows the bug, it gives the
// reason after a dash.
//
//go:embed testdata/bugs.txt
var seen string

// mostCalls limits how long the shortest sequence that shows a bug may be.
const mostCalls = 13

func TestEachBugIsRefused(t *testing.T) {
	bugs := faults.BugsOf("memprovider")
	lines := strings.Split(strings.TrimSpace(seen), "\n")
	if len(lines) != len(bugs) {
		t.Errorf("%d bugs in the table, there are %d", len(lines), len(bugs))
	}
	for _, line := range sample.Of(lines, 130) {
		id, how, _ := strings.Cut(line, " ")
		t.Run(id, func(t *testing.T) {
			if !slices.ContainsFunc(bugs, func(b faults.Bug) bool { return string(b.ID) == id }) {
				t.Fatal("there is no such bug of a store")
			}
			wrong := inMemory(wrongBy(faults.BugID(id)))
			sequences, refusal := find(t, wrong)
			if why, unseen := strings.CutPrefix(how, "- "); unseen {
				if refusal != nil {
					t.Fatalf("%s, and yet\n%s", why, refusal)
				}
				return
			}
			if how != "refused" {
				if refusal != nil {
					t.Fatalf("freedom %s covers it, and yet\n%s", how, refusal)
				}
				sequences, refusal = find(t, wrong, oracle.Freedom(how))
			}
			if refusal == nil {
				t.Fatalf("not seen in %d sequences", sequences)
			}
			t.Logf("sequence %d, %d calls: %v", sequences, refusal.Number, refusal.Objections)
			if refusal.Number > mostCalls {
				t.Errorf("%d calls, more than %d", refusal.Number, mostCalls)
			}
			if len(refusal.Objections) == 0 {
				t.Errorf("refused without a reason: %s", refusal)
			}
		})
	}
}
