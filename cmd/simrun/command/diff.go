package command

import (
	"fmt"

	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/realnode"
)

// diffCmd implements `simrun diff`, which compares released runtimes with their models.
type diffCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" help:"Built-in scenario or file with nodes that run released runtimes."`

	Seed  *seed     `help:"Compare this one seed, decimal or 0x-hex." placeholder:"N" xor:"seeds"`
	Seeds seedRange `help:"The number of seeds to compare, or a range: 100, 5..9. 20 if not given." placeholder:"N|A..B" xor:"seeds"`
	Drawn bool      `help:"Draw latencies and faults from the seed. Otherwise calls and activities take the least time and no fault happens, so that the order of events in the two runs is as similar as possible."`
	JSON  bool      `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (diffCmd) Help() string {
	return `Runs each seed of a plan twice: unchanged, and with modelled builds in place of the released runtimes, with the profile of the newest of these releases. Compares what the two runs have committed, and reports the first event of each instance that differs. Times, versions of the runtime and the answers of its own activities do not count.

A difference is a mistake of the model, a behaviour of the release that no switch describes yet, or the result of two orders of events that are both right.

Examples:

    simrun diff real-programs --seeds 100
    simrun diff real-rolling-upgrade --seed 9 --drawn

Exit status: 0 alike, 1 something differs, 2 usage or bad input.`
}

// diffJSON is the object printed by diff --json.
type diffJSON struct {
	Schema   int              `json:"schema"`
	Verb     string           `json:"verb"`
	Scenario string           `json:"scenario"`
	Seeds    uint64           `json:"seeds"`
	Alike    int              `json:"events_alike"`
	Differ   []differenceJSON `json:"differences"`
}

// differenceJSON describes the first event at which an instance differs between the two runs. The text of a missing
// event is omitted.
type differenceJSON struct {
	Seed      string `json:"seed"`
	Instance  string `json:"instance"`
	Execution uint64 `json:"execution"`
	Event     int    `json:"event"`
	Released  string `json:"released,omitempty"`
	Modelled  string `json:"modelled,omitempty"`
}

// diffSeeds is the default number of seeds to compare.
const diffSeeds = 20

func (c *diffCmd) run(a *app) (int, error) {
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	if first, err := s.plan(1); err != nil || len(first.Releases()) == 0 {
		if err == nil {
			err = fmt.Errorf("%s: no node runs a released runtime, so there is nothing to compare", s.scenario.Name)
		}
		return 0, err
	}
	seeds := c.Seeds
	switch {
	case c.Seed != nil:
		seeds = seedRange{first: uint64(*c.Seed), count: 1}
	case seeds.count == 0:
		seeds = seedRange{first: 1, count: diffSeeds}
	}
	out := diffJSON{Schema: schema, Verb: "diff", Scenario: s.scenario.Name, Seeds: seeds.count, Differ: []differenceJSON{}}
	for i := range seeds.count {
		seed := seeds.first + i
		differ, alike, err := c.compare(s, seed)
		if err != nil {
			return 0, fmt.Errorf("seed %d: %w", seed, err)
		}
		out.Alike += alike
		for _, d := range differ {
			out.Differ = append(out.Differ, differenceJSON{decimal(seed), d.Instance, d.Execution, d.Event, d.One, d.Other})
		}
	}
	status := exitOK
	if len(out.Differ) > 0 {
		status = exitSafety
	}
	if c.JSON {
		return status, a.writeJSON(out)
	}
	for _, d := range out.Differ {
		a.printf("seed %s: %s, execution %d, event %d\n    released  %s\n    modelled  %s\n", d.Seed, d.Instance, d.Execution, d.Event, orDash(d.Released), orDash(d.Modelled))
	}
	a.printf("%d seeds: %d events alike, %d instances differ\n", out.Seeds, out.Alike, len(out.Differ))
	return status, nil
}

// compare runs seed twice, once with the released runtimes and once with their models, and returns the differences.
func (c *diffCmd) compare(s *subject, seed uint64) ([]realnode.Difference, int, error) {
	p, err := s.plan(seed)
	if err != nil {
		return nil, 0, err
	}
	one, err := c.store(s, p, seed)
	if err != nil {
		return nil, 0, err
	}
	other, err := c.store(s, p.Modelled(), seed)
	if err != nil {
		return nil, 0, err
	}
	return realnode.Compare(one, other)
}

// store runs p and returns the store's final state.
func (c *diffCmd) store(s *subject, p *plan.Plan, seed uint64) (memprovider.View, error) {
	cfg := s.configOf(p, seed)
	if !c.Drawn {
		cfg.Chooser = sim.Replay(&sim.Recording{}) // every choice takes its smallest value
	}
	var world *cluster.World
	monitor := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		world = w
		return monitor(w)
	}
	if _, err := cluster.Run(cfg); err != nil {
		return nil, err
	}
	return world.Store(), nil
}
