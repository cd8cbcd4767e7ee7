package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/overlap"
	"github.com/durosim/durosim/properties/undertest"
)

// overlapJSON is the object printed by oracle --overlap --json.
type overlapJSON struct {
	Schema     int                 `json:"schema"`
	Verb       string              `json:"verb"`
	Provider   string              `json:"provider"`
	Version    string              `json:"version"`
	FirstSeed  string              `json:"first_seed"`
	Seeds      uint64              `json:"seeds"`
	Made       int                 `json:"made"`
	Undecided  int                 `json:"undecided"` // programs whose search for an allowed order took too long
	Alone      int                 `json:"alone"`     // programs that fail even without overlapping calls
	Lacks      []string            `json:"lacks"`     // methods that the provider lacks; calls to them are skipped
	Finding    *overlapFindingJSON `json:"finding"`
	ExitStatus int                 `json:"exit_status"`
}

type overlapFindingJSON struct {
	Class string `json:"class"`
	Seed  string `json:"seed"`
	Calls int    `json:"calls"`
	Story string `json:"story"`
}

// runOverlap checks the provider with overlapping calls.
func (c *oracleCmd) runOverlap(a *app, seeds seedRange, promises oracle.Options) (int, error) {
	if c.Known != "" || c.KeepGoing || c.Stories {
		return 0, errors.New("--overlap stops at the first finding: it takes neither --known nor --keep-going nor --stories")
	}
	// Wait longer than the search does. Then a call that never returns is a finding rather than a connection failure.
	peer, err := c.dial(2 * c.Timeout)
	if err != nil {
		return 0, err
	}
	end := peer.stop
	defer func() { _ = end() }() // the way it exits does not matter
	d := peer.client.Described()
	if !d.Overlapping {
		return 0, fmt.Errorf("%s: its description lacks \"overlapping\": true, so its calls must not overlap", c.name())
	}
	bar := newProgress(a.stderr, "programs", seeds.count)
	defer bar.clear()
	done := uint64(0)
	ctx, stop := interruptible()
	defer stop()
	report, err := overlap.Search(undertest.Factory{New: peer.store}, overlap.Options{Oracle: promises, First: seeds.first, Programs: int(seeds.count),
		Patience: c.Timeout, Context: ctx, Done: func() {
			done++
			bar.show(done, 0)
		}})
	bar.clear()
	if err != nil && !errors.Is(err, context.Canceled) {
		return 0, fmt.Errorf("%s: no verdict after %d programs: %w", c.name(), report.Made, err)
	}
	out := &overlapJSON{Schema: schema, Verb: "oracle", Provider: d.Name, Version: d.Version, FirstSeed: decimal(seeds.first), Seeds: seeds.count,
		Made: report.Made, Undecided: report.Undecided, Alone: report.Alone, Lacks: report.Lacks}
	switch {
	case err != nil:
		out.ExitStatus = exitStopped
	case report.Made == report.Undecided+report.Alone:
		out.ExitStatus = exitUsage
	}
	if f := report.Finding; f != nil {
		if f.Class == overlap.NoAnswer {
			end = peer.abandon
		}
		out.Finding, out.ExitStatus = &overlapFindingJSON{Class: f.Class, Seed: decimal(f.Seed), Calls: f.Calls, Story: f.Story}, exitSafety
	}
	if c.JSON {
		return out.ExitStatus, a.writeJSON(out)
	}
	a.printOverlap(out)
	return out.ExitStatus, nil
}

func (a *app) printOverlap(r *overlapJSON) {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "%s\t%s %s\n", a.style.quiet("provider"), r.Provider, r.Version)
	fmt.Fprintf(t, "%s\t%s\tfrom seed %s on, with overlapping calls\n", a.style.quiet("programs"), grouped(uint64(r.Made)), r.FirstSeed)
	if r.Undecided > 0 {
		fmt.Fprintf(t, "%s\t%s\tthe search for an order took too long\n", a.style.quiet("undecided"), grouped(uint64(r.Undecided)))
	}
	if r.Alone > 0 {
		fmt.Fprintf(t, "%s\t%s\twrong without overlapping calls, too: simrun oracle without --overlap shows how\n", a.style.quiet("skipped"), grouped(uint64(r.Alone)))
	}
	if len(r.Lacks) > 0 {
		fmt.Fprintf(t, "%s\t%d\tmethods that it does not have: %s\n", a.style.quiet("not called"), len(r.Lacks), strings.Join(r.Lacks, ", "))
	}
	if r.ExitStatus == exitUsage {
		fmt.Fprintf(t, "%s\t-\tno program could be judged: this is no verdict\n", a.style.quiet("passed"))
	} else if r.Finding == nil {
		fmt.Fprintf(t, "%s\t%s\tthe contract allows some order of the calls of each\n", a.style.quiet("passed"), grouped(uint64(r.Made-r.Undecided-r.Alone)))
	}
	flushTable(t)
	if f := r.Finding; f != nil {
		fmt.Fprintf(a.stdout, "\n%s  seed %s, %s:\n\n%s\n", a.style.bad("REFUSED"), f.Seed, f.Class, f.Story)
	}
}
