package command

import (
	"fmt"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/timeline"
)

// draw writes the plan's page. It shows the rollback map and the first seed's run.
func (c *planCmd) draw(rep *report, r *upgrade.Report, cfg upgrade.Config) error {
	p := timeline.Page{Title: "Plan " + rep.subject.scenario.Name, Command: c.line(rep.subject), Map: planMap(r)}
	p.Verdict, p.Bad = rep.contract()+"; "+r.Plan(), rep.status != exitOK
	hazards := timeline.Table{Title: "Stored work that the nodes cannot take", Open: true}
	for _, line := range r.HazardLines() {
		hazards.Rows = append(hazards.Rows, timeline.Row{Cells: []string{line.Text}, Bad: line.Bad})
	}
	orders := timeline.Table{Title: "Orders of the steps, the best first", Head: []string{"order", "lost", "stranded", "waits", "waited", "longest"}}
	for _, o := range r.Orders {
		orders.Rows = append(orders.Rows, timeline.Row{Cells: []string{o.Text, fmt.Sprint(o.Lost.Total), fmt.Sprint(o.Stranded.Total), fmt.Sprint(o.Waited.Total),
			pretty.Duration(o.WaitedMs), pretty.Duration(o.LongestMs)}, Bad: o.Lost.Total+o.Stranded.Total > 0})
	}
	for _, t := range []timeline.Table{hazards, orders, c.examples(rep.subject, r)} {
		if len(t.Rows) > 0 {
			p.Tables = append(p.Tables, t)
		}
	}
	first, err := cfg.Plan(cfg.First)
	if err != nil {
		return err
	}
	run := cfg.Run(first, cfg.First, rep.subject.scenario.Expect)
	return drawRun(c.HTML, &p, run, cfg.First)
}

// examples lists an instance for each nonzero cell of the map, with the command that replays the instance's run.
func (c *planCmd) examples(s *subject, r *upgrade.Report) timeline.Table {
	t := timeline.Table{Title: "Runs behind the map", Head: []string{"cell", "instance", "to see it"}}
	row := func(variant, what string, n upgrade.Count) {
		if n.Total > 0 && n.Example != "" {
			t.Rows = append(t.Rows, timeline.Row{Cells: []string{variant + ", " + what, n.Example, c.oneLine(s, variant, n.ExampleSeed, n.Example)}})
		}
	}
	for k := range r.Stops {
		stop, back := &r.Stops[k], &r.Backs[k]
		variant := fmt.Sprintf("stop-%d", k)
		row(variant, "waits", stop.Waited)
		row(variant, "stranded", stop.Stranded)
		row(variant, "lost", stop.Lost)
		if k == 0 {
			continue
		}
		variant = fmt.Sprintf("back-%d", k)
		row(variant, "stranded", back.Stranded)
		row(variant, "no build takes", back.Untaken)
		row(variant, "lost", back.Lost)
	}
	return t
}

// line returns the command line for the plan, without the picture flags.
func (c *planCmd) line(s *subject) string {
	words := append([]string{"plan"}, s.options()...)
	if c.Store != "" {
		words = append(words, "--store", c.Store)
	}
	if c.Seeds.count > 0 {
		words = append(words, "--seeds", c.Seeds.bounds())
	}
	if c.Orders {
		words = append(words, "--orders")
	}
	return itself(append(words, s.arg)...)
}

// planMap builds the rows of the rollback map.
func planMap(r *upgrade.Report) *timeline.Map {
	if len(r.Steps) == 0 {
		return nil
	}
	m := &timeline.Map{NoReturn: r.NoReturn, Summary: r.NoReturnText()}
	for k := range r.Stops {
		row := timeline.MapStep{Name: "as it is"}
		if k > 0 {
			s := r.Steps[k-1]
			row.Name = fmt.Sprintf("%d  %s", k, s.String())
		}
		stop, back := &r.Stops[k], &r.Backs[k]
		longest := timeline.Cell{Text: "-"}
		if stop.Waited.Total > 0 {
			longest.Text = pretty.Duration(stop.LongestMs)
		}
		row.Stop = []timeline.Cell{cell(stop.Waited, 1), longest, cell(stop.Stranded, 2), cell(stop.Lost, 3)}
		row.Back = []timeline.Cell{{Text: "-"}, {Text: "-"}, {Text: "-"}}
		if k > 0 {
			row.Back = []timeline.Cell{cell(back.Stranded, 2), cell(back.Untaken, 3), cell(back.Lost, 3)}
		}
		m.Steps = append(m.Steps, row)
	}
	return m
}

func cell(c upgrade.Count, weight int) timeline.Cell {
	if c.Total == 0 {
		return timeline.Cell{Text: "-"}
	}
	out := timeline.Cell{Text: c.String(), Weight: weight}
	if c.Example != "" {
		out.Title = fmt.Sprintf("%d in all seeds; such as %s (pin %s, seed %d): %s", c.Total, c.Example, c.Pin, c.ExampleSeed, c.Why)
	}
	return out
}
