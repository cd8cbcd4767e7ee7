package durosim

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/timeline"
)

// drawn writes an HTML page with the campaign's first failing seed, or with its first seed if none fails.
func (r *testRun) drawn(sum *campaign.Summary) error {
	p := timeline.Page{Title: r.name, Verdict: sum.Plan()}
	seed := r.c.First
	if len(sum.Violations) > 0 {
		v := sum.Violations[0]
		seed, p.Bad, p.Verdict = v.Seed, true, fmt.Sprintf("%s is violated; %s", v.Rule(), p.Verdict)
	}
	p.Title = fmt.Sprintf("%s, seed %d", r.name, seed)
	p.Command = strings.ReplaceAll(r.command, seedMark, fmt.Sprint(seed))
	plan, err := r.plan(seed)
	if err != nil {
		return err
	}
	cfg := r.config()
	cfg.Plan, cfg.Seed, cfg.Chooser = plan, seed, r.chooser(seed)
	return r.drawPage(p, cfg)
}

// drawPage runs a configuration and draws the page with its run.
func (r *testRun) drawPage(p timeline.Page, cfg cluster.Config) error {
	c := timeline.New(cfg.Plan)
	monitor := cfg.Monitor
	cfg.Narrator = c.Tell
	cfg.Monitor = func(w *cluster.World) cluster.Monitor { return c.Watch(w, monitor(w)) }
	result, err := cluster.Run(cfg)
	if err != nil {
		return err
	}
	p.Run = c.Timeline(fmt.Sprint(cfg.Seed), result)
	var b bytes.Buffer
	if err = p.Write(&b); err != nil {
		return err
	}
	return r.draw(b.Bytes())
}

// drawnStored writes the stored run as an HTML page. cfg is that of the run, with a chooser of its own.
func (r *testRun) drawnStored(cfg cluster.Config, violations []cluster.Violation) error {
	p := timeline.Page{Title: r.name, Verdict: "every property holds", Command: r.plainCommand()}
	if len(violations) > 0 {
		p.Bad, p.Verdict = true, violations[0].Rule()+" is violated"
	}
	return r.drawPage(p, cfg)
}

// drawnSmall writes the smallest failing run as an HTML page.
func (r *testRun) drawnSmall(s *Shrunk) error {
	p := timeline.Page{Title: r.name + ", smallest plan", Bad: true, Verdict: s.First.Rule() + " is violated", Command: r.plainCommand()}
	return r.drawPage(p, s.options.config(s.Concrete, sim.Replay(s.Choices)))
}
