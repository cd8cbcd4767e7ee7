package timeline_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
)

// carried returns the timeline that a page carries.
func carried(t *testing.T, p timeline.Page) *timeline.Timeline {
	t.Helper()
	found := regexp.MustCompile(`<script class="run"[^>]*>([^<]*)<`).FindStringSubmatch(written(t, p))
	if found == nil {
		t.Fatal("the page carries no run")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(found[1])))
	if err != nil {
		t.Fatal(err)
	}
	var run timeline.Timeline
	if err := json.NewDecoder(z).Decode(&run); err != nil {
		t.Fatal(err)
	}
	return &run
}

// stateAt returns the state of a track at a time.
func stateAt(run *timeline.Timeline, track timeline.Track, ms int64) (state []string) {
	for i := 0; i < len(track) && track[i] <= ms; i += 3 {
		state = run.States[track[i+2]]
	}
	return state
}

// TestStates checks that a page has the states that `simrun why` gives, at times all through a run.
func TestStates(t *testing.T) {
	line, result := draw(t, story)
	run := carried(t, timeline.Page{Run: line})
	s, err := scenario.Parse("story.txt", []byte(story), engine.ShippedBuilds()...)
	if err != nil {
		t.Fatal(err)
	}
	for ms := int64(200); ms < result.Virtual; ms += result.Virtual / 23 {
		for _, in := range run.Instances {
			p, err := s.Expand(1, scenario.Overrides{})
			if err != nil {
				t.Fatal(err)
			}
			cfg := cluster.Config{Plan: p, Seed: 1}
			durosim.Run{}.Configure(&cfg, properties.Options{})
			x, err := cluster.Explain(cfg, in.ID, time.Duration(ms)*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
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
