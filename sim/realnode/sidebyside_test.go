package realnode_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

var update = flag.Bool("update", false, "write the table of switches on models and on released runtimes into docs/real-nodes.md")

// mended lists the switches that a release after 0.1.26 has fixed and that show on nodes of 0.1.26.
var mended = []finding{
	{"can-parent-lost", 1, "L06"}, {"parent-execution-guessed", 1, "L06"}, {"refused-start-untold", 1, "L02"},
	{"duplicate-start-wins", 1, "L02"}, {"duplicate-start-code", 1, "S11"}, {"poison-on-old-execution", 1, "S08"},
	{"pending-dequeue-reads", 1, "outcome"}, {"freed-event-waits", 1, "L02"}, {"dropped-dequeue-early", 1, "S11"},
	{"prune-unordered", 1, "S11"},
}

// notOnNodes says why a switch does not show on the nodes of a cluster, and what does show it.
var notOnNodes = map[string]string{
	"renewal-stops-at-shutdown": "a graceful stop of a node has one second, and a lock lasts longer from its last renewal",
	"turn-renewal-gives-up":     "a turn of a released node takes no time; the crate alone shows it",
	"head-of-line-block":        "the store is durosim's; the crate alone shows it",
	"packed-comparison":         "the store is durosim's; the crate alone shows it",
	"prerelease-packed":         "a released node is no pre-release; the crate alone shows it",
	"undecodable-message-lost":  "the store is durosim's; the crate alone shows it",
	"can-input-lost":            "the store is durosim's, which hands out a start with what came before it",
	"queue-message-orphaned":    "the store is durosim's; the crate alone shows it",
	"carried-on-dropped":        "it takes two releases and more than 20 unread messages",
	"kv-stamp-fresh":            "programs prune all keys or none; the crate alone shows it",
	"undecodable-history-empty": "the store is durosim's; the crate alone shows it",
	"delete-checks-early":       "two calls have to overlap inside the store, which is durosim's",
	"kv-read-in-two-statements": "two calls have to overlap inside the store, which is durosim's",
	"abandon-touches-all":       "the store is durosim's; the released provider shows it (findings.md)",
}

// TestReleasedSideBySide checks the table in docs/real-nodes.md, which shows the effect of each of the profiles'
// switches on modelled nodes and on nodes of the releases. -update rewrites it.
func TestReleasedSideBySide(t *testing.T) {
	releases := hosts(t)
	const page, begin, end = "../../docs/real-nodes.md", "<!-- side by side: go test ./sim/realnode -run SideBySide -update -->\n", "<!-- end of side by side -->\n"
	data := sample.Must(os.ReadFile(page))(t)
	before, rest, found := strings.Cut(string(data), begin)
	was, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table side by side", page)
	}
	want := sideBySide(t, releases)
	if *update {
		sample.OK(t, os.WriteFile(page, []byte(before+begin+want+end+after), 0o644))
	} else if was != want {
		t.Errorf("%s differs from what is seen:\n%s", page, want)
	}
}

func sideBySide(t *testing.T, releases cluster.Releases) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("\n| switch | model with the switch | duroxide 0.1.26 | duroxide 0.1.32 |\n| --- | --- | --- | --- |\n")
	var rest []string
	shown := append(findings(t), mended...)
	for _, b := range faults.Profile("duroxide-0.1.26") {
		_, id, _ := strings.Cut(string(b.ID), "/")
		i := slices.IndexFunc(shown, func(f finding) bool { return f.id == id })
		if reason := notOnNodes[id]; i < 0 == (reason == "") {
			t.Errorf("%s: it is shown: %t; the reason why it is not: %q", id, i >= 0, reason)
			continue
		} else if i < 0 {
			rest = append(rest, "`"+id+"`")
			continue
		}
		f := shown[i]
		s := released(t, id, "modelled")
		if by := seen(t, s, f, nil); by != "holds" {
			t.Errorf("%s: by the contract %s, expected that it holds", id, by)
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", id, seen(t, s, f, nil, switchesOf(id)...),
			seen(t, onRelease(t, id, "0.1.26"), f, releases), seen(t, onRelease(t, id, "0.1.32"), f, releases))
	}
	return out.String() + "\nNot on nodes: " + strings.Join(rest, ", ") + ".\n\n"
}

// switchesOf returns a switch and any others that it needs to have an effect.
func switchesOf(id string) []faults.BugID {
	bugs := []faults.BugID{faults.BugID("duroxide-0.1.26/" + id)}
	if id == "turn-abandon-not-sent" { // only has an effect if the turn's failure is not stored either
		bugs = append(bugs, "duroxide-0.1.26/ack-failure-fails-orchestration")
	}
	return bugs
}

// seen says in which of the first seeds, or in the finding's own seed, the finding's rule is violated.
func seen(t *testing.T, s *scenario.Scenario, f finding, releases cluster.Releases, bugs ...faults.BugID) string {
	t.Helper()
	const few, many = 6, 500
	seeds := []uint64{f.seed}
	most := uint64(few)
	if len(bugs) > 1 {
		most = many
	}
	for seed := uint64(1); seed <= most; seed++ {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		if violates(sample.Must(runScenario(s, seed, releases, bugs...))(t), f.rule) {
			rule, _, _ := strings.Cut(f.rule, " ") // the id of a property, or the word expect
			return fmt.Sprintf("%s, seed %d", rule, seed)
		}
	}
	return "holds"
}

// onRelease returns the built-in scenario for a switch with all nodes on one release. The scenario about the order of
// tests is left unchanged, because it needs a pin below the range of 0.1.32.
func onRelease(t *testing.T, id, release string) *scenario.Scenario {
	t.Helper()
	if id == "version-check-first" && release == "0.1.32" {
		return released(t, id, "as it is")
	}
	return parseAs(t, id, strings.NewReplacer("duroxide 0.1.26", "duroxide "+release, "duroxide 0.1.32", "duroxide "+release))
}
