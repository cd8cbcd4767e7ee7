package command

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/timeline"
)

// watch returns a collector to which the run configured by cfg reports, in addition to cfg's own narrator and monitor.
func watch(cfg *cluster.Config) *timeline.Collector {
	c := timeline.New(cfg.Plan)
	tell, monitor := cfg.Narrator, cfg.Monitor
	cfg.Narrator = func(l cluster.Line) {
		if tell != nil {
			tell(l)
		}
		c.Tell(l)
	}
	cfg.Monitor = func(w *cluster.World) cluster.Monitor { return c.Watch(w, monitor(w)) }
	return c
}

// draw writes the page of the run.
func (r *replayed) draw(file string) error {
	if r.picture == nil {
		return nil
	}
	rep := newReport(r.subject, r.summary(), seedRange{r.seed, 1})
	p := timeline.Page{Title: r.title(), Command: r.repro(), At: r.repro() + " --step", Verdict: rep.verdicts("; "), Bad: rep.Passed == 0}
	p.Run = r.picture.Timeline(decimal(r.seed), r.result)
	return writeFile(file, p.Write)
}

// inDirectory returns an error if no file can have that name, since its directory does not exist or it is a directory
// itself, so that the user learns of it before a long run rather than after it. An empty name is accepted.
func inDirectory(name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s: is a directory", name)
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: the directory %s does not exist", name, filepath.Dir(name))
	}
	return nil
}

// writeFile writes what write gives to a file, as a whole.
func writeFile(name string, write func(w io.Writer) error) error {
	if err := inDirectory(name); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return writeWhole(name, b.Bytes())
}

// draw writes the campaign's page. It includes the run of the seed that determines the exit status, or of the first
// seed if every run passed.
func (c *runCmd) draw(r *report) error {
	p := timeline.Page{Title: "Campaign " + r.Scenario, Verdict: r.verdicts("; "), Bad: r.Status != exitOK}
	p.Command = c.goOn(r.subject, r.seeds, 0)
	p.Tables = filled(slices.Concat([]timeline.Table{r.totals(), r.violated(), knownTable(r.Findings)}, smallTables(r), workTables(r), []timeline.Table{coverageTable(r)})...)
	seed := r.seeds.first
	if v, ok := r.deciding(); ok {
		seed = v.Seed
	}
	cfg, err := r.subject.config(seed)
	if err != nil {
		return err
	}
	p.At = r.subject.line("replay", seed) + " --step"
	return drawRun(c.HTML, &p, cfg, seed)
}

func drawRun(file string, p *timeline.Page, cfg cluster.Config, seed uint64) (err error) {
	if p.Run, err = seen(cfg, seed); err != nil {
		return err
	}
	return writeFile(file, p.Write)
}

// seen runs seed, up to where durosim may crash, and returns its timeline.
func seen(cfg cluster.Config, seed uint64) (*timeline.Timeline, error) {
	collector := watch(&cfg)
	result, err := func() (result *cluster.Result, err error) {
		defer func() {
			if recover() != nil {
				result, err = nil, nil
			}
		}()
		return cluster.Run(cfg)
	}()
	if err != nil {
		return nil, err
	}
	return collector.Timeline(decimal(seed), result), nil
}

// workTables returns the tables for fates, help, remarks, waits and windows.
func workTables(r *report) []timeline.Table {
	f := &r.Fate
	help := timeline.Table{Title: "Help beyond the plan", Head: []string{"times", "what", "seeds", "first"}}
	for i := range f.Help {
		g := &f.Help[i]
		help.Row(false, grouped(g.Count), g.String(), grouped(g.Seeds), fmt.Sprintf("%s, seed %d", g.First, g.FirstSeed))
	}
	remarks := timeline.Table{Title: "Remarks on the work", Head: []string{"times", "what", "first"}}
	for i := range f.Remarks {
		g := &f.Remarks[i]
		remarks.Row(false, grouped(g.Count), g.About, g.First())
	}
	return []timeline.Table{fateTable(f), help, remarks, waitTable(f), upgrade.WindowTable(r.Windows)}
}

func smallTables(r *report) []timeline.Table {
	var all []timeline.Table
	for _, name := range r.Stored {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the file was written a moment ago; failing to read it is not worth failing for
		}
		t := timeline.Table{Title: "Smallest plan: " + itself("replay", name)}
		for line := range strings.Lines(string(data)) {
			t.Row(false, strings.TrimRight(line, "\n"))
		}
		all = append(all, t)
	}
	return all
}

func filled(tables ...timeline.Table) []timeline.Table {
	return slices.DeleteFunc(tables, func(t timeline.Table) bool { return len(t.Rows) == 0 })
}

func fateTable(f *campaign.Fate) timeline.Table {
	t := timeline.Table{Title: "Fate of the work", Open: true, Head: []string{"instances", "end", "cause", "with help", "expected", "such as"}}
	for _, e := range f.Ends {
		such := ""
		if len(e.Instances) > 0 {
			such = fmt.Sprintf("%s, seed %d", e.Instances[0].Instance, e.Instances[0].Seed)
		}
		t.Row(!e.AsExpected && !e.Known, grouped(e.Count), string(e.End), e.Cause, e.Owes, string(e.Expect), such)
	}
	return t
}

func waitTable(f *campaign.Fate) timeline.Table {
	t := timeline.Table{Title: "Waits for a build, by step", Head: []string{"after", "waits", "max", "p99", "the longest"}, Open: true}
	for _, w := range f.Waits {
		most, p99 := "-", "-"
		if w.Ended > 0 {
			most, p99 = pretty.Duration(w.MaxMs), pretty.Duration(w.P99Ms)
		}
		t.Row(w.Open, cmp.Or(w.After, "before the first step"), grouped(w.Count), most, p99, w.Longest())
	}
	return t
}

func coverageTable(r *report) timeline.Table {
	t := timeline.Table{Title: fmt.Sprintf("Coverage: %d points reached, %d not", len(r.Coverage), len(r.Unreached)), Head: []string{"point", "times"}}
	for _, name := range r.Unreached {
		t.Row(false, name, "not reached")
	}
	for _, p := range r.Coverage {
		t.Row(false, p.Name, grouped(p.Count))
	}
	return t
}
