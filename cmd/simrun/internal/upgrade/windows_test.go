package upgrade_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

// TestWidened checks that a window says what a node of the older build does whose range is above its build, whenever it
// got that range, and not that the work waits for a newer node.
func TestWidened(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s widen B to >=0.0.0, <=2.0.0",
			"kinds: 1.5.0 does not read ExternalSubscribed2, ExternalEvent2; B, which admits >=0.0.0, <=2.0.0, takes what 2.0.0 began, and gives back what has such events until it is poisoned (outcome): narrow B, or do not widen it"},
		{"nodes A B C run 1.5.0\nat 1s widen B to <=2.0.0\nat 2s upgrade A to 2.0.0\nat 3s widen C to <=2.0.0",
			"kinds: 1.5.0 does not read ExternalSubscribed2, ExternalEvent2; B (like C), which admits >=0.0.0, <=2.0.0, takes what 2.0.0 began, and gives back what has such events until it is poisoned (outcome): narrow B, or do not widen it"},
		{"nodes A B run 1.5.0\nat 1s widen B to >=0.0.0, <=2.0.0\nat 2s narrow B to <=1.5.0\nat 3s upgrade A to 2.0.0",
			"kinds: 1.5.0 does not read ExternalSubscribed2, ExternalEvent2; what 2.0.0 began waits for a newer node (S01, S23)"},
		{"nodes A B run 1.5.0\n  option supported_replay_versions <=1.5.0\nat 1s upgrade A to 2.0.0",
			"kinds: 1.5.0 does not read ExternalSubscribed2, ExternalEvent2; what 2.0.0 began waits for a node whose range takes that, which no node of 2.0.0 does (S01, S23)"},
		{"nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s widen A to >=0.0.0, <=2.0.0\nat 3s rollback A to 1.5.0",
			"kinds: 1.5.0 does not read ExternalSubscribed2, ExternalEvent2; A, which admits >=0.0.0, <=2.0.0, takes what 2.0.0 began, and gives back what has such events until it is poisoned (outcome): narrow A, or do not widen it"},
		{"build 0.1.26 like 1.5.0\nbuild 0.1.32 like 1.5.0\n  semantics discard from 0.1.31\nnodes A B run 0.1.26\nat 1s upgrade A to 0.1.32\nat 2s widen B to <=0.1.32",
			"semantics: B, which admits >=0.0.0, <=0.1.32, takes what 0.1.32 begins by discard and replays it by standard (S10): narrow B, or do not widen it"},
		{"build 0.1.26 like 1.5.0\nbuild 0.1.32 like 1.5.0\n  semantics discard from 0.1.31\nnodes A B run 0.1.26\nat 1s upgrade A to 0.1.32",
			"semantics: 0.1.26 would replay by standard what 0.1.32 begins by discard (S10): widen no node of 0.1.26 to take that"},
	} {
		all := windows(t, tc.text)
		if len(all) != 1 || all[0].Risks[0] != tc.want {
			t.Errorf("%s:\n got %+v\nwant %s", tc.text, all, tc.want)
		}
	}
}

func windows(t *testing.T, text string) []upgrade.Window {
	t.Helper()
	s := sample.Must(scenario.Parse("w.txt", []byte(text)))(t)
	p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	return sample.Must(upgrade.Windows(p, engine.ShippedBuilds()))(t)
}

// TestWindows checks that a window opens when the first node runs the newer build and closes when the last node with
// the older build is gone, and that it says how the older build behaves differently in the meantime.
func TestWindows(t *testing.T) {
	const builds = `build 0.1.26 like 1.5.0
build 0.1.29 like 0.1.26
  lacks parent-execution
build 0.1.30 like 0.1.26
  limits carried 100
build 0.1.32 like 0.1.30
  semantics discard from 0.1.31
`
	for _, tc := range []struct {
		name, text string
		want       []string // old, new, opens, closes, the first words of the risks, and the number of mended mistakes
	}{
		{"one build", "nodes A B run 1.5.0\nat 1s stop A\nat 2s start A", nil},
		{"builds that differ in nothing", "node A runs 1.5.0\nnode B runs 1.6.0", nil},
		{"kinds", "nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s upgrade B to 2.0.0",
			[]string{"1.5.0 2.0.0 [upgrade A to 2.0.0] [upgrade B to 2.0.0] kinds 0"}},
		{"a candidate beside its release", "build 2.1.0-rc.1 like 1.5.0\nbuild 2.1.0 like 2.0.0\nnodes A B run 2.1.0-rc.1\nat 1s upgrade A to 2.1.0\nat 2s upgrade B to 2.1.0",
			[]string{"2.1.0-rc.1 2.1.0 [upgrade A to 2.1.0] [upgrade B to 2.1.0] kinds candidate 0"}},
		{"rolled back", "nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s rollback A to 1.5.0", []string{"1.5.0 2.0.0 [upgrade A to 2.0.0] [rollback A to 1.5.0] kinds 0"}},
		{"a rollback opens it anew", "nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s upgrade B to 2.0.0\nat 3s rollback B to 1.5.0",
			[]string{"1.5.0 2.0.0 [upgrade A to 2.0.0] [upgrade B to 2.0.0] kinds 0", "1.5.0 2.0.0 [rollback B to 1.5.0] [] kinds 0"}},
		{"nothing closes it", "node A runs 1.5.0\nnode B runs 2.0.0", []string{"1.5.0 2.0.0 [] [] kinds 0"}},
		{"an old node that is down comes back", "nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s stop B\nat 3s start B",
			[]string{"1.5.0 2.0.0 [upgrade A to 2.0.0] [] kinds 0"}},
		{"old nodes that are stopped or removed are gone", "nodes A B run 1.5.0\nnode C runs 2.0.0 absent\nat 1s add C\nat 2s stop A\nat 3s remove B",
			[]string{"1.5.0 2.0.0 [add C] [remove B] kinds 0"}},
		{"an old node that comes back as a new one is gone", "nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s stop B\nat 3s upgrade B to 2.0.0",
			[]string{"1.5.0 2.0.0 [upgrade A to 2.0.0] [stop B] kinds 0"}},
		{"an old node that crashes comes back by itself", "nodes A B run 1.5.0\nat 1s upgrade A to 2.0.0\nat 2s crash B",
			[]string{"1.5.0 2.0.0 [upgrade A to 2.0.0] [] kinds 0"}},
		{"the newer build replays by other semantics", "build 0.1.32 like 1.5.0\n  semantics discard from 0.1.31\nbuild 0.2.0 like 1.5.0\nnodes A B run 0.1.32\nat 1s upgrade A to 0.2.0",
			[]string{"0.1.32 0.2.0 [upgrade A to 0.2.0] [] semantics semantics 0"}},
		{"but takes nothing of the older one", "build 0.1.32 like 1.5.0\n  semantics discard from 0.1.31\nbuild 0.2.0 like 1.5.0\nnode A runs 0.1.32\nnode B runs 0.2.0\n  option supported_replay_versions 0.2.x",
			[]string{"0.1.32 0.2.0 [] [] semantics 0"}},
		{"the newer build does not read what the older one wrote", "build 2.1.0 like 2.0.0\n  reads without LegacyNote\nnode A runs 0.8.0\nnode B runs 2.1.0",
			[]string{"0.8.0 2.1.0 [] [] kinds kinds 0"}},
		{"limits, and what 0.1.30 mended", builds + "node A runs 0.1.26\nnode B runs 0.1.30", []string{"0.1.26 0.1.30 [] [] limits 2"}},
		{"fields", builds + "node A runs 0.1.29\nnode B runs 0.1.30", []string{"0.1.29 0.1.30 [] [] fields limits 2"}},
		{"semantics, and what 0.1.32 mended", builds + "node A runs 0.1.30\nnode B runs 0.1.32", []string{"0.1.30 0.1.32 [] [] semantics 11"}},
		{"all of it", builds + "node A runs 0.1.26\nnode B runs 0.1.32", []string{"0.1.26 0.1.32 [] [] semantics limits 13"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, w := range windows(t, tc.text) {
				words := []string{w.Old, w.New, "[" + w.Opens + "]", "[" + w.Closes + "]"}
				for _, r := range w.Risks {
					word, _, _ := strings.Cut(r, ":")
					words = append(words, word)
				}
				got = append(got, strings.Join(append(words, strconv.Itoa(len(w.Mended))), " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("windows (-want +got):\n%s", diff)
			}
		})
	}
}
