package command

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/timeline"
)

// whyCmd implements `simrun why`, which explains what an instance is waiting for.
type whyCmd struct {
	planFlags `embed:""`

	Instance string `arg:"" help:"The instance, as the plan or a story names it."`
	Scenario string `arg:"" optional:"" help:"Built-in scenario, scenario file, or stored run; rolling-upgrade if none is named, or what shows the first --bug."`

	Seed   *seed          `help:"The seed, decimal or 0x-hex; 1 if not given. A stored run has its own." placeholder:"N"`
	Replay string         `help:"Look at a run of that variant of the plan, such as back-2, as plan --replay shows it." placeholder:"VARIANT"`
	At     *time.Duration `help:"The virtual time to look at, such as 12.5s; the end of the run if not given." placeholder:"TIME"`
	JSON   bool           `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (whyCmd) Help() string {
	return `Runs one seed up to a virtual time and says what the instance waits for then: the one rule that keeps it, with its values.

Examples:

    simrun why Chain-3 --at 12s
    simrun why --seed 7 --at 20s ProcessOrder-3 rolling-upgrade
    simrun why --seed 7 --at 20s --json from-the-future nobody-compatible
    simrun why --replay back-2 --seed 3 --at 5m Chain-3 my-upgrade.txt

"simrun replay --seed N" shows which instances there are.

Exit status: 0 whatever keeps the instance, 2 usage or bad input, also if there is no such instance.`
}

type whyJSON struct {
	Scenario  string `json:"scenario"`
	Variant   string `json:"variant,omitempty"`
	Seed      uint64 `json:"seed,string"`
	Instance  string `json:"instance"`
	VirtualMs int64  `json:"virtual_ms"`
	*cluster.Explanation
}

func (c *whyCmd) run(a *app) (int, error) {
	if c.Replay != "" && c.Faults == "" {
		c.Faults = ownFaults(a.program, c.Scenario)
	}
	r, err := c.one(a.program, c.Scenario, c.Seed)
	if err != nil {
		if _, e := a.program.openScenario(c.Instance); e == nil && c.Scenario != "" {
			err = fmt.Errorf("the instance comes first: why %s %s", c.Scenario, c.Instance)
		}
		return 0, err
	}
	of := r.subject.scenario.Name
	if c.Replay != "" {
		of += ", " + c.Replay
		if err := r.vary(c.Replay); err != nil {
			return 0, err
		}
	}
	if r.entry == nil {
		a.warn(r.subject)
	}
	at, err := c.at(r)
	if err != nil {
		return 0, err
	}
	cfg, err := r.config()
	if err != nil {
		return 0, err
	}
	x, err := cluster.Explain(cfg, c.Instance, at)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		return exitOK, a.writeJSON("why", whyJSON{r.subject.scenario.Name, c.Replay, r.seed, c.Instance, at.Milliseconds(), x})
	}
	a.printf("%s at %s of %s, seed %d\n\n", a.style.title(c.Instance), pretty.Duration(at.Milliseconds()), of, r.seed)
	a.printf("%s: %s\n\n", a.style.title(x.Rule), x.Text)
	t := timeline.Table{}
	for _, d := range x.Details {
		t.Row(false, d.Name, d.Value)
	}
	a.printTable("  ", t, 2)
	return exitOK, nil
}

// at returns the time to explain: the requested time, or the end of the run.
func (c *whyCmd) at(r *replayed) (time.Duration, error) {
	if c.At != nil {
		if *c.At < 0 {
			return 0, fmt.Errorf("--at %v: expected a time since the start of the run", *c.At)
		}
		return *c.At, nil
	}
	cfg, err := r.config()
	if err != nil {
		return 0, err
	}
	result, err := cluster.Run(cfg)
	if err != nil {
		return 0, err
	}
	return time.Duration(result.Virtual) * time.Millisecond, nil
}
