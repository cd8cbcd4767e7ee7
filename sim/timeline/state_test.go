package timeline_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
)

func carried(t *testing.T, p timeline.Page) *timeline.Timeline {
	t.Helper()
	found := regexp.MustCompile(`<script class="run"[^>]*>([^<]*)<`).FindStringSubmatch(written(t, p))
	if found == nil {
		t.Fatal("the page carries no run")
	}
	z := sample.Must(gzip.NewReader(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(found[1]))))(t)
	var run timeline.Timeline
	sample.OK(t, json.NewDecoder(z).Decode(&run))
	return &run
}

func stateAt(run *timeline.Timeline, track timeline.Track, ms int64) (state []string) {
	for i := 0; i < len(track) && track[i] <= ms; i += 3 {
		state = run.States[track[i+2]]
	}
	return state
}

// states is a run in which nodes change while work waits for one, and in which time alone changes what is waited for.
const states = `nodes A B run 1.5.0
instance chain runs Chain with 1 at 1s
instance order runs ProcessOrder at 5s expect any
  raise approval data yes at 14s
instance timed runs Approval with 5s at 8s
instance ledger runs Ledger with 2 at 2s expect any
  enqueue entries data first at 3s
  enqueue entries data second at 6s
instance envoy runs Envoy at 2s
at 3s upgrade A to 2.0.0
at 4s crash B
at 12s rollback A to 1.5.0
at 16s start B
at 18s pause A for 2s
at 22s widen B to <=1.9.0
at 26s stop B
rescue widen
`

// TestStates checks that a page has the states that `simrun why` gives, just before and when something changes, and
// between.
func TestStates(t *testing.T) {
	line, result := draw(t, states)
	run := carried(t, timeline.Page{Run: line})
	s := sample.Must(scenario.Parse("states.txt", []byte(states), engine.ShippedBuilds()...))(t)
	times := []int64{200, result.Virtual / 2}
	for ms := range int64(20) {
		times = append(times, 14_000+ms) // the event is sent, and arrives
	}
	for _, m := range run.Marks {
		times = append(times, m.Ms-1, m.Ms, m.Ms+500)
	}
	for _, in := range run.Instances {
		for i := 0; i < len(in.Track); i += 3 {
			times = append(times, in.Track[i]-1, in.Track[i], in.Track[i]+50)
		}
	}
	all := fmt.Sprint(run.States)
	for _, part := range []string{`key entry-1 "second"`, `, session "session of envoy"`, `, tag "gpu"`} {
		if !strings.Contains(all, part) {
			t.Errorf("no state has %s", part)
		}
	}
	slices.Sort(times)
	for _, ms := range sample.Of(slices.Compact(times), 4) {
		if ms < 0 || ms >= result.Virtual {
			continue
		}
		for _, in := range run.Instances {
			p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
			cfg := cluster.Config{Plan: p, Seed: 1}
			durosim.Run{}.Configure(&cfg, properties.Options{})
			x := sample.Must(cluster.Explain(cfg, in.ID, time.Duration(ms+1)*time.Millisecond-1))(t) // steps take place within milliseconds
			want := []string{x.Rule, x.Text}
			for _, d := range x.Details {
				if node, ok := strings.CutPrefix(d.Name, "node "); ok {
					for _, n := range run.Nodes {
						if n.Name == node {
							if d := cmp.Diff([]string{d.Value}, stateAt(run, n.Track, ms)); d != "" {
								t.Errorf("node %s at %d ms: %s", node, ms, d)
							}
						}
					}
				} else if d.Name != "time" {
					want = append(want, d.Name, d.Value)
				}
			}
			if d := cmp.Diff(want, stateAt(run, in.Track, ms)); d != "" {
				t.Fatalf("%s at %d ms: %s", in.ID, ms, d)
			}
		}
	}
}

// TestSlots checks that slots hold and run what they say, and that a node that is down has none.
func TestSlots(t *testing.T) {
	line, _ := draw(t, story)
	run := carried(t, timeline.Page{Run: line})
	seen := map[string]bool{}
	for _, n := range run.Nodes {
		for _, s := range n.Slots {
			for i := 0; i < len(s.Track); i += 3 {
				state := run.States[s.Track[i+2]]
				if len(state) > 0 {
					seen[strings.Fields(state[0])[0]] = true
				}
				if i+3 < len(s.Track) && s.Track[i+3] == s.Track[i] {
					continue // the node may go down later in this millisecond
				}
				down := true
				for _, up := range n.Spans {
					down = down && (s.Track[i] < up.FromMs || s.Track[i] >= up.ToMs)
				}
				if down != (len(state) == 0) {
					t.Errorf("%s, %s at %d ms: %q, down %v", n.Name, s.Name, s.Track[i], state, down)
				}
			}
		}
	}
	for _, word := range []string{"waits", "asks", "has", "runs", "commits"} {
		if !seen[word] {
			t.Errorf("no slot %s", word)
		}
	}
}
