package pages

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

func init() { generated["windows"] = windows }

// window is a mistake of 0.1.26 that a later release fixed. It has the first seed of the upgrade in which the mistake
// shows while all three old nodes are up, and the first in which it shows while one is left. A seed of 0 means that
// there is none.
type window struct {
	bug       faults.Bug
	all, last uint64
}

// upgradeShows is the scenario used for the windows. The other constant is the number of seeds to try.
const (
	upgradeShows = "rolling-0.1.26-to-0.1.32"
	windowSeeds  = 40
)

// mendedLater returns the mistakes of 0.1.26 that a later release fixed.
func mendedLater() []faults.Bug {
	return slices.DeleteFunc(faults.Profile("duroxide-0.1.26"), func(b faults.Bug) bool { return b.Mended == "" })
}

// allWindows finds the windows of every such mistake, once.
var allWindows = sync.OnceValues(func() ([]window, error) { return windowsOf(mendedLater()) })

// windowsOf finds the windows of the given mistakes.
func windowsOf(bugs []faults.Bug) ([]window, error) {
	s, err := scenario.Lookup(upgradeShows)
	if err != nil {
		return nil, err
	}
	var out []window
	for _, bug := range bugs {
		w := window{bug: bug}
		if w.all, err = windowSeed(s, bug, func(*plan.Plan) {}); err == nil && w.all != 0 {
			w.last, err = windowSeed(s, bug, oneLeft)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// oneLeft upgrades all nodes except the last one before the run begins.
func oneLeft(p *plan.Plan) {
	last := p.Nodes[len(p.Nodes)-1].Name
	p.Nodes = slices.Clone(p.Nodes)
	for i := range p.Nodes[:len(p.Nodes)-1] {
		p.Nodes[i].Build = "0.1.32"
	}
	p.Schedule = slices.DeleteFunc(slices.Clone(p.Schedule), func(s plan.Step) bool { return s.Verb == plan.VerbUpgrade && s.Node != last })
}

// windowSeed returns the first seed in which the old nodes' mistake shows, or 0 if there is none.
func windowSeed(s *scenario.Scenario, bug faults.Bug, change func(*plan.Plan)) (uint64, error) {
	id := bug.ID + "@0.1.26"
	for seed := uint64(1); seed <= windowSeeds; seed++ {
		p, err := s.Expand(seed, scenario.Overrides{Bugs: []faults.BugID{id}})
		if err != nil {
			return 0, err
		}
		change(p)
		result, err := cluster.Run(cluster.Config{Plan: p, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
			return properties.New(w, properties.Options{})
		}})
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(result.Violations, func(v cluster.Violation) bool { return slices.Contains(bug.Properties, v.Property) }) {
			return seed, nil
		}
	}
	return 0, nil
}

// windows lists the fixed mistakes that remain dangerous while an old node is up.
func windows() string {
	found, err := allWindows()
	if err != nil {
		return err.Error() + "\n"
	}
	return windowTable(found)
}

func windowTable(found []window) string {
	b := table("mistake", "mended in", "what it breaks", "three old nodes", "one old node left")
	var rest strings.Builder
	for _, w := range found {
		if w.all == 0 {
			fmt.Fprintf(&rest, "- `%s`, mended in %s: `%s`, upgraded node by node.\n", w.bug.ID, w.bug.Mended, w.bug.Scenario)
			continue
		}
		left := "no"
		if w.last != 0 {
			left = fmt.Sprintf("seed %d", w.last)
		}
		b.row("`"+string(w.bug.ID)+"`", w.bug.Mended, strings.Join(w.bug.Properties, ", "), fmt.Sprintf("seed %d", w.all), left)
	}
	return b.String() + "\nThis scenario does not get there; the scenario of the mistake does:\n\n" + rest.String()
}

// TestWindows checks that most of the fixed mistakes are seen while one old node is up. Without DUROSIM_LONG, it tries
// a sample, whose results must match the document.
func TestWindows(t *testing.T) {
	if !sample.All() {
		found, err := windowsOf(sample.Of(mendedLater(), 20))
		if err != nil {
			t.Fatal(err)
		}
		document := readDocument(t, "docs/track-record.md")
		for line := range strings.Lines(windowTable(found)) {
			if strings.Contains(line, "/") && !strings.Contains(document, line) {
				t.Errorf("docs/track-record.md does not have the line\n%sDUROSIM_LONG=1 go -C internal/dev test -count=1 ./pages -run TestGeneratedLists -update writes it", line)
			}
		}
		return
	}
	found, err := allWindows()
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, w := range found {
		if w.last != 0 {
			open++
		}
	}
	if len(found) != 13 || open < 8 {
		t.Errorf("%d mistakes were mended, %d are seen beside new nodes: expected 13, and 8 at least", len(found), open)
	}
}
