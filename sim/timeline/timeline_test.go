package timeline_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// story has a turn, activities, a wait for a build, a crash, and poison, which occurs only because of relief.
const story = `nodes A B run 1.5.0
instance chain runs Chain with 1 at 1s
instance order runs ProcessOrder at 5s expect any
  raise approval data yes at 14s
at 3s upgrade A to 2.0.0
at 4s crash B
at 12s rollback A to 1.5.0
at 16s start B
relief widen
`

func draw(t *testing.T, text string) (*timeline.Timeline, *cluster.Result) {
	t.Helper()
	s, err := scenario.Parse("story.txt", []byte(text), engine.ShippedBuilds()...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Expand(1, scenario.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := cluster.Config{Plan: p, Seed: 1}
	durosim.Run{}.Configure(&cfg, properties.Options{})
	c := timeline.New(p)
	cfg.Narrator = c.Tell
	monitor := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor { return c.Watch(w, monitor(w)) }
	result, err := cluster.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c.Timeline("1", result), result
}

// drawn returns a handmade timeline, so that its output does not depend on runs.
func drawn() *timeline.Timeline {
	return &timeline.Timeline{Scenario: "two nodes", Seed: "7", EndMs: 20_000, Builds: []string{"1.5.0", "2.0.0"},
		Nodes: []timeline.Node{
			{Name: "A", Spans: []timeline.Span{{ToMs: 9000, State: timeline.Up}, {FromMs: 9000, ToMs: 9100, State: timeline.Draining, Step: 40}, {FromMs: 9100, ToMs: 20_000, Build: 1, State: timeline.Up, Step: 41}}},
			{Name: "B b", Spans: []timeline.Span{{ToMs: 11_000, State: timeline.Up}}}},
		Marks: []timeline.Mark{
			{Ms: 0, Kind: "phase", Node: -1, Text: "turbulence"}, {Ms: 9000, Step: 40, Kind: "step", Node: 0, Text: "upgrade A to 2.0.0"},
			{Ms: 9500, Step: 43, Kind: "fault", Node: 1, Instance: "order-1", Text: "answer-lost"}, {Ms: 11_000, Step: 50, Kind: "crash", Node: 1, Text: "crash B"},
			{Ms: 12_000, Step: 60, Kind: "violation", Node: 0, Instance: "order-1", Text: "L05"}},
		Instances: []timeline.Instance{{ID: "order-1", Bars: []timeline.Bar{
			{Kind: "turn", FromMs: 1000, ToMs: 1000, Step: 3, Text: "Order@1.0.0"}, {Kind: "activity", FromMs: 1100, ToMs: 3000, Node: 1, Step: 5, Text: "Ship"},
			{Kind: "wait", FromMs: 4000, ToMs: 9100, Node: -1, Build: -1, Text: "no live node admits pin 2.0.0"}, {Kind: "poison", FromMs: 12_000, ToMs: 12_000, Build: 1, Step: 60}},
			History: []timeline.Event{{Ms: 1000, Step: 3, Execution: 1, ID: 1, Kind: "OrchestrationStarted"}, {Ms: 3100, Step: 9, Execution: 1, ID: 2, Kind: "ActivityCompleted", Node: 1},
				{Ms: 12_000, Step: 60, Execution: 1, ID: 3, Kind: "OrchestrationFailed"}}},
			{ID: "order-2", History: []timeline.Event{{Ms: 0, Execution: 1, ID: 1, Kind: "OrchestrationStarted", Node: -1}}}}}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

// TestTellsWhatHappened checks that a timeline agrees with the result of the run.
func TestTellsWhatHappened(t *testing.T) {
	line, result := draw(t, story)
	kinds := map[string]int{}
	for _, m := range line.Marks {
		kinds[m.Kind]++
	}
	if kinds["step"] != 4 || kinds["crash"] != 1 || kinds["phase"] != 3 || kinds["violation"] != len(result.Violations) {
		t.Errorf("marks: %v", kinds)
	}
	order := line.Instances[1]
	bars := map[string]int{}
	for _, b := range order.Bars {
		bars[b.Kind]++
	}
	if order.End != "poisoned" || bars["wait"] != len(result.Waits) || bars["poison"] != 1 || bars["back"] < 5 || bars["activity"] != 1 {
		t.Errorf("order: %s, %v", order.End, bars)
	}
	if chain := line.Instances[0]; chain.End != "completed" || chain.History[0].Kind != "OrchestrationStarted" || chain.History[0].Node < 0 {
		t.Errorf("chain: %+v", chain)
	}
	if a := line.Nodes[0].Spans; len(line.Builds) != 2 || line.Builds[0] != "1.5.0" || a[len(a)-1].ToMs != line.EndMs {
		t.Errorf("builds %v, spans of A %v", line.Builds, a)
	}
	for _, l := range line.Story {
		if strings.Contains(l.Text, "order") && len(l.About) == 0 {
			t.Errorf("%q mentions order, and is about nothing", l.Text)
		}
	}
}

// TestDeleted checks that an instance deleted by relief ends at its deletion. It is not running, although its history
// has no terminal event.
func TestDeleted(t *testing.T) {
	line, _ := draw(t, `node A runs 1.5.0
history lost pinned 9.9.9 shape waiting kick at 1s
`)
	if lost := line.Instances[0]; lost.End != "deleted" || lost.ToMs <= 1000 || lost.ToMs >= line.EndMs {
		t.Errorf("%s is %s, from %d to %d of %d ms", lost.ID, lost.End, lost.FromMs, lost.ToMs, line.EndMs)
	}
}

// TestWatchingChangesNothing checks that watching a run does not change it.
func TestWatchingChangesNothing(t *testing.T) {
	_, watched := draw(t, story)
	s, err := scenario.Parse("story.txt", []byte(story), engine.ShippedBuilds()...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Expand(1, scenario.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := cluster.Config{Plan: p, Seed: 1}
	durosim.Run{}.Configure(&cfg, properties.Options{})
	plain, err := cluster.Run(cfg)
	if err != nil || plain.Digest != watched.Digest {
		t.Errorf("digest %v, watched %v (%v)", plain.Digest, watched.Digest, err)
	}
}
