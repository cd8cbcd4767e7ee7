package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// TestBuiltinScenarios: each file parses under its own name, has a title, formats to a text that parses to the same, and
// expands to a plan that does so, too.
func TestBuiltinScenarios(t *testing.T) {
	all := Builtin()
	if len(all) == 0 {
		t.Fatal("no scenario is embedded")
	}
	found := false
	for _, n := range all {
		found = found || n.Name == Default
		t.Run(n.Name, func(t *testing.T) {
			s := sample.Must(Lookup(n.Name))(t)
			if s.Name != n.Name {
				t.Errorf("the file is called %s, and the scenario %s", n.Name, s.Name)
			}
			if n.Title == "" || s.Title != n.Title {
				t.Errorf("title %q in the list, %q in the scenario: expected one and the same on the first line", n.Title, s.Title)
			}
			if !strings.HasSuffix(n.Title, ".") {
				t.Errorf("title %q goes on in the next line; lists show the first line alone", n.Title)
			}
			if s.Seeds.Count == 0 {
				t.Error("no number of seeds, from which on a sometimes must have been seen")
			}
			roundTrip(t, s)
			for seed := range sample.Number(2, 20) {
				p := sample.Must(s.Expand(seed, Overrides{}))(t)
				if err := p.Validate(workload.Known()); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				planRoundTrip(t, p)
				checkTold(t, seed, s, p)
			}
		})
	}
	if !found {
		t.Errorf("the default scenario %s is not among the embedded ones", Default)
	}
}

// checkTold checks that marks come in the order in which they are written, whatever the draws.
func checkTold(t *testing.T, seed uint64, s *Scenario, p *plan.Plan) {
	t.Helper()
	for i := 1; i < len(p.Schedule); i++ {
		if p.Schedule[i].At < p.Schedule[i-1].At {
			t.Errorf("scenario %s, seed %d: step %d (%s) is drawn at %v, before step %d at %v", s.Name, seed, i+1, p.Schedule[i].Verb,
				p.Schedule[i].At, i, p.Schedule[i-1].At)
		}
	}
}

func roundTrip(t *testing.T, s *Scenario) {
	t.Helper()
	text := s.Format()
	back, err := Parse(s.File, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(s, back, ignoreLines); diff != "" {
		t.Fatalf("formatted and parsed again, it is another (-was +is):\n%s\n%s", diff, text)
	}
	if again := back.Format(); string(again) != string(text) {
		t.Fatalf("formatted twice:\n%s\n%s", text, again)
	}
}

func planRoundTrip(t interface {
	Helper()
	Fatalf(string, ...any)
}, p *plan.Plan) {
	t.Helper()
	text := Format(p)
	back, err := Parse("plan.txt", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(back.open) > 0 || back.Load != nil {
		t.Fatalf("the text of a plan leaves something open:\n%s", text)
	}
	if diff := cmp.Diff(p, &back.Template); diff != "" {
		t.Fatalf("formatted and parsed again, it is another (-was +is):\n%s\n%s", diff, text)
	}
}

// ignoreLines removes line numbers and the warnings that depend on them.
var ignoreLines = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Expect.Line" }, cmp.Ignore()),
	cmpopts.IgnoreUnexported(Scenario{}),
}

func TestLookupUnknown(t *testing.T) {
	_, err := Lookup("roling-upgrade")
	if err == nil || !strings.HasSuffix(err.Error(), "; did you mean rolling-upgrade?") {
		t.Errorf("error is %v", err)
	}
}
