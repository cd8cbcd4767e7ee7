package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
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
			s, err := Lookup(n.Name)
			if err != nil {
				t.Fatal(err)
			}
			if s.Name != n.Name {
				t.Errorf("the file is called %s, and the scenario %s", n.Name, s.Name)
			}
			if n.Title == "" || s.Title != n.Title {
				t.Errorf("title %q in the list, %q in the scenario: expected one and the same on the first line", n.Title, s.Title)
			}
			if s.Seeds.Count == 0 {
				t.Error("no number of seeds, from which on a sometimes must have been seen")
			}
			roundTrip(t, s)
			for seed := range uint64(20) {
				p, err := s.Expand(seed, Overrides{})
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Validate(engine.ShippedBuilds()); err != nil {
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

// checkTold checks that marks come in the order in which they are written, whatever was drawn.
func checkTold(t *testing.T, seed uint64, s *Scenario, p *cluster.Plan) {
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
}, p *cluster.Plan) {
	t.Helper()
	text := Format(p)
	back, err := Parse("plan.txt", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(back.Draws) > 0 || back.Load != nil {
		t.Fatalf("the text of a plan leaves something open:\n%s", text)
	}
	if diff := cmp.Diff(p, &back.Template); diff != "" {
		t.Fatalf("formatted and parsed again, it is another (-was +is):\n%s\n%s", diff, text)
	}
}

var ignoreLines = cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Expect.Line" }, cmp.Ignore())

func TestLookupUnknown(t *testing.T) {
	_, err := Lookup("roling-upgrade")
	if err == nil || !strings.HasSuffix(err.Error(), "; did you mean rolling-upgrade?") {
		t.Errorf("error is %v", err)
	}
}

// walkthrough are the sentences of document 000, "Worked example: rolling upgrade with new event types", from "Before
// upgrade" to step 3, without its typography.
var walkthrough = []string{
	"All executions have pinned_duroxide_version in the 1.x range.",
	"All nodes can fetch and process everything.",
	"Capability filtering is a no-op — everyone is compatible.",
	"Existing v1.x executions: All 3 nodes can process them (v1.x is within everyone's range).",
	"Node A's v2.0.0 replay engine is backward-compatible and replays v1.x history correctly.",
	`New orchestrations started on Node A: Their OrchestrationStarted event is stamped with duroxide_version: "2.0.0", so pinned_duroxide_version = (2, 0, 0).`,
	"If the orchestration code uses the new RaiseEvent2/WaitEvent2 APIs, history will contain v2.x-only events.",
	"v2.0.0-pinned executions in the queue: Only Node A's filter matches (2, 0, 0).",
	"Nodes B and C's filter (<=1.5.0) excludes them.",
	"These executions are only routed to Node A.",
	"ContinueAsNew on Node A: If a v1.x execution does ContinueAsNew and Node A picks up the ContinueAsNew work item, the new execution is pinned at v2.0.0 (fresh OrchestrationStarted stamped by Node A).",
	"From that point, the new execution can only be processed by v2.0.0+ nodes.",
	"ContinueAsNew on Node B/C: If Node B or C picks up the ContinueAsNew, the new execution is pinned at v1.5.0 and remains processable by all nodes.",
	"v2.0.0-pinned items now have two nodes (A and B) that can process them — better availability.",
	"v1.x items are still processable by all three nodes.",
	"Node C continues to only see v1.x work.",
	"All nodes are now v2.0.0.",
	"All work (v1.x and v2.x pinned) is processable by everyone.",
	"Capability filtering is again a no-op — everyone is compatible with everything.",
	"Any remaining v1.x-pinned executions continue to run fine (v2.0.0 replay engine is backward-compatible).",
	"Over time, as v1.x executions complete or do ContinueAsNew (now pinned at v2.0.0), the cluster naturally converges to all-v2.0.0-pinned work.",
}

var risk = []string{
	"Risk: Node A is the only node handling v2.0.0-pinned work.",
	"If Node A goes down, v2.0.0 executions queue up until Node A returns or another node is upgraded.",
	"This is expected and safe — the work is not lost, just waiting.",
}

// TestWalkthroughIsQuoted: the two files quote every sentence of the walkthrough, in its order, nothing else, and follow
// each with an expectation.
func TestWalkthroughIsQuoted(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{{"rolling-upgrade", walkthrough}, {"rolling-upgrade-risk", risk}} {
		var quoted []string
		var expects []int
		inside := false
		for _, n := range Builtin() {
			if n.Name != c.file {
				continue
			}
			for line := range strings.Lines(string(n.Text)) {
				line = strings.TrimSpace(line)
				text, isQuote := strings.CutPrefix(line, "#> ")
				switch {
				case isQuote && inside:
					quoted[len(quoted)-1] += " " + text
				case isQuote:
					quoted, expects = append(quoted, text), append(expects, 0)
				case strings.HasPrefix(line, "expect ") && len(quoted) > 0:
					expects[len(expects)-1]++
				}
				inside = isQuote
			}
		}
		if diff := cmp.Diff(c.want, quoted); diff != "" {
			t.Errorf("%s does not quote the walkthrough (-want +have):\n%s", c.file, diff)
		}
		for i, n := range expects {
			if n == 0 {
				t.Errorf("%s: no expectation follows %q", c.file, quoted[i])
			}
		}
	}
}
