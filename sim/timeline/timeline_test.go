package timeline_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
)

func TestMain(m *testing.M) { sample.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

// story has a turn, activities, a wait for a build, a crash, and poison, which occurs only because of rescue.
const story = `nodes A B run 1.5.0
instance chain runs Chain with 1 at 1s
instance order runs ProcessOrder at 5s expect any
  raise approval data yes at 14s
at 3s upgrade A to 2.0.0
at 4s crash B
at 12s rollback A to 1.5.0
at 16s start B
rescue widen
`

func draw(t *testing.T, text string) (*timeline.Timeline, *cluster.Result) {
	t.Helper()
	s := sample.Must(scenario.Parse("story.txt", []byte(text), engine.ShippedBuilds()...))(t)
	p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	cfg := cluster.Config{Plan: p, Seed: 1}
	durosim.Run{}.Configure(&cfg, properties.Options{})
	c := timeline.New(p)
	cfg.Narrator = c.Tell
	monitor := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor { return c.Watch(w, monitor(w)) }
	result := sample.Must(cluster.Run(cfg))(t)
	return c.Timeline("1", result), result
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

// TestDeleted checks that an instance deleted by rescue ends at its deletion. It is not running, although its history
// has no terminal event.
func TestDeleted(t *testing.T) {
	line, _ := draw(t, `node A runs 1.5.0
history lost pinned 9.9.9 shape waiting kick at 1s
`)
	if lost := line.Instances[0]; lost.End != "deleted" || lost.ToMs <= 1000 || lost.ToMs >= line.EndMs {
		t.Errorf("%s is %s, from %d to %d of %d ms", lost.ID, lost.End, lost.FromMs, lost.ToMs, line.EndMs)
	}
}

func TestWatchingChangesNothing(t *testing.T) {
	_, watched := draw(t, story)
	s := sample.Must(scenario.Parse("story.txt", []byte(story), engine.ShippedBuilds()...))(t)
	p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	cfg := cluster.Config{Plan: p, Seed: 1}
	durosim.Run{}.Configure(&cfg, properties.Options{})
	plain, err := cluster.Run(cfg)
	if err != nil || plain.Digest != watched.Digest {
		t.Errorf("digest %v, watched %v (%v)", plain.Digest, watched.Digest, err)
	}
}
