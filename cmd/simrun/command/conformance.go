package command

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/undertest"
	"github.com/durosim/durosim/sim/timeline"
)

// conformanceCmd implements `simrun conformance`, which runs the contract's cases against a provider in any language.
type conformanceCmd struct {
	provider

	Run       string        `help:"Run the cases whose line \"ID name #tag…\" matches, such as 'CF-|#filter'." placeholder:"REGEXP"`
	Known     string        `help:"A TOML file of known mistakes: the cases that fail because of them are listed separately." placeholder:"FILE"`
	KeepGoing bool          `help:"Continue with the other cases after a failure."`
	Timeout   time.Duration `help:"The time limit for one answer; a program has at least 3s for its first." default:"10s"`
	JSON      bool          `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (conformanceCmd) Help() string {
	return `Starts a program that offers a storage provider over JSON-RPC (docs/oracle-protocol.md) and runs the contract's cases against it, one after another. A case that fails shows the calls with their answers, the expected answer, and the command that repeats it. A case that needs something the program does not offer is skipped, and the table says why.

Examples:

    simrun conformance -- python3 provider.py
    simrun conformance --keep-going --run 'LX|#sessions' -- ./provider
    simrun conformance --run AT-01 -- simrun serve

A program that ends during a call, or gives an answer of the wrong form, fails the case. One that does not answer leaves it without a verdict; with --keep-going the program is started again, and the other cases follow.

Exit status: 0 no case failed except known ones, 1 a case failed, 2 usage, or a case has no verdict, or all are skipped, 130 interrupted.`
}

type conformanceJSON struct {
	Provider   string              `json:"provider"`
	Version    string              `json:"version"`
	Asked      int                 `json:"asked"`
	Passed     int                 `json:"passed"`
	Failed     int                 `json:"failed"`
	Known      int                 `json:"known"`
	Skipped    int                 `json:"skipped"`
	NoVerdict  int                 `json:"no_verdict"`
	Groups     conformance.Summary `json:"groups"`
	Cases      []caseJSON          `json:"cases"`
	Unseen     []string            `json:"known_not_seen"`
	NotRun     int                 `json:"not_run,omitempty"`
	WhyNotRun  string              `json:"why_not_run,omitempty"` // such as "interrupted"
	ExitStatus int                 `json:"exit_status"`
}

type caseJSON struct {
	ID      string              `json:"id"`
	Name    string              `json:"name"`
	About   string              `json:"about"`
	Group   string              `json:"group"`
	Tags    []string            `json:"tags"`
	Outcome conformance.Verdict `json:"outcome"`
	Detail  string              `json:"detail,omitempty"`
	Reason  string              `json:"reason,omitempty"` // why a known failure has not been fixed
	Link    string              `json:"link,omitempty"`
	Repro   string              `json:"repro,omitempty"` // the command that repeats the failure
}

// noVerdict is the outcome of a case to which the program gave no valid answer.
const noVerdict conformance.Verdict = "no verdict"

func (c *conformanceCmd) run(a *app) (int, error) {
	pattern, err := regexp.Compile(c.Run)
	if err != nil {
		return 0, fmt.Errorf("--run: %w", err)
	}
	var cases []conformance.Case
	for _, one := range conformance.Cases() {
		if pattern.MatchString(one.String()) {
			cases = append(cases, one)
		}
	}
	switch {
	case len(cases) == 0:
		return 0, fmt.Errorf("--run %q: matches no case", c.Run)
	case c.Timeout <= 0:
		return 0, fmt.Errorf("--timeout %v: expected a positive time", c.Timeout)
	}
	if _, err := c.denied(); err != nil {
		return 0, err
	}
	known, err := readKnown(a.program, c.Known)
	if err != nil {
		return 0, err
	}
	peer, err := c.dial(c.Timeout)
	if err != nil {
		return 0, err
	}
	defer func() { peer.stop() }()
	alone := c.alone(peer, c.Timeout)
	ctx := a.interruptible()
	bar := newProgress(a.stderr, "cases")
	defer bar.clear()
	d := peer.client.Described()
	out := &conformanceJSON{Provider: d.Name, Version: d.Version, Groups: conformance.Summary{}, Cases: []caseJSON{}, Unseen: []string{}}
	for i, one := range cases {
		if ctx.Err() != nil {
			out.NotRun, out.WhyNotRun, out.ExitStatus = len(cases)-i, "interrupted", exitStopped
			break
		}
		if out.Failed+out.NoVerdict > 0 && !c.KeepGoing {
			out.NotRun, out.WhyNotRun = len(cases)-i, "after the failure"
			if out.NoVerdict > 0 {
				out.WhyNotRun = "after a call without a valid answer"
			}
			break
		}
		if peer.broken() != nil {
			_ = peer.abandon() // there is nothing more to learn from it
			fresh, err := c.dial(c.Timeout)
			if err != nil {
				out.NotRun, out.WhyNotRun, out.ExitStatus = len(cases)-i, "since the program did not start again: "+err.Error(), cmp.Or(out.ExitStatus, exitUsage)
				break
			}
			peer = fresh
		}
		r := conformance.Ask(undertest.Factory{New: peer.store, Contract: c.Contract}, one.ID)[0]
		again := conformanceCmd{provider: c.provider, Run: "^" + one.ID + " ", Timeout: c.Timeout}
		unanswered := peer.broken() != nil && !engine.Mistaken(peer.broken())
		if alone != nil && r.Verdict() == conformance.Failed && peer.broken() == nil {
			in := func(store func() (*undertest.Store, error)) conformance.Verdict {
				return conformance.Ask(undertest.Factory{New: store, Contract: c.Contract}, one.ID)[0].Verdict()
			}
			if in(alone) == conformance.Passed && in(peer.store) == conformance.Failed {
				r.Failure += "\nIn another process, where nothing came before, the case passes: reset seems not to undo all that other cases did."
				again.Run, again.KeepGoing = c.Run, c.KeepGoing // all that came before
			}
		}
		out.add(r, known.ofCase(r.ID), unanswered, again.line())
		bar.show(uint64(i+1), uint64(len(cases)), uint64(out.Failed))
	}
	bar.clear()
	if out.Asked == out.Skipped && out.NotRun == 0 {
		out.ExitStatus = exitUsage
	}
	return a.show("conformance", c.JSON, out.ExitStatus, out, func() { a.printConformance(out) })
}

// line returns the command line with those flags.
func (c *conformanceCmd) line() string { return c.provider.line("conformance", *c) }

// add counts a result. A known failure is not counted as a failure, and neither is one for want of a valid answer.
func (o *conformanceJSON) add(r conformance.Result, known *knownMistake, unanswered bool, repro string) {
	shown := caseJSON{ID: r.ID, Name: r.Name, About: r.About, Group: r.Group, Tags: append([]string{}, r.Tags...), Outcome: r.Verdict()}
	if shown.Outcome == conformance.Failed {
		shown.Detail, shown.Repro = r.Failure, repro
	}
	o.Asked++
	switch {
	case unanswered:
		shown.Outcome = noVerdict
		o.NoVerdict++
		o.ExitStatus = cmp.Or(o.ExitStatus, exitUsage)
		o.Cases = append(o.Cases, shown)
		return
	case shown.Outcome == conformance.Failed:
		if known == nil {
			o.ExitStatus = exitSafety
		} else {
			shown.Outcome, shown.Reason, shown.Link = conformance.Known, known.Reason, known.Link
		}
	case shown.Outcome == conformance.Skipped:
		shown.Detail = r.Skipped
	default:
		if known != nil {
			o.Unseen = append(o.Unseen, r.ID)
		}
	}
	o.Groups.Count(r.Group, shown.Outcome)
	sum := o.Groups.Total()
	o.Passed, o.Failed, o.Known, o.Skipped = sum.Passed, sum.Failed, sum.Known, sum.Skipped
	o.Cases = append(o.Cases, shown)
}

func (a *app) printConformance(o *conformanceJSON) {
	note := ""
	if o.NoVerdict > 0 {
		note = fmt.Sprintf(", %d without a verdict", o.NoVerdict)
	}
	if o.NotRun > 0 {
		note += fmt.Sprintf("; %d not run, %s", o.NotRun, o.WhyNotRun)
	}
	a.printTable("", timeline.Table{Rows: []timeline.Row{
		{Cells: []string{"provider", o.Provider + " " + o.Version}},
		{Cells: []string{"cases", fmt.Sprintf("%d passed, %d failed, %d known, %d skipped%s", o.Passed, o.Failed, o.Known, o.Skipped, note)}},
	}}, 2)
	a.printf("\n")
	head, groups, _ := strings.Cut(o.Groups.String(), "\n")
	a.printf("%s\n%s", a.style.quiet(head), groups)
	if reasons := o.skips(); len(reasons) > 0 {
		a.printf("\n")
		for _, r := range reasons {
			a.printf("%s  %s\n", a.style.quiet("skipped"), r)
		}
	}
	if o.Known+len(o.Unseen) > 0 {
		a.printf("\n")
	}
	for _, c := range o.Cases {
		if c.Outcome == conformance.Known {
			a.printf("%s  %s: %s\n", a.style.quiet("known"), c.ID, strings.TrimSpace(c.Reason+" "+c.Link))
		}
	}
	for _, id := range o.Unseen {
		a.printf("%s  %s is known to fail, and passed\n", a.style.quiet("not seen"), id)
	}
	if o.ExitStatus == exitUsage && o.Asked == o.Skipped {
		a.printf("\nno case could be judged: this is no verdict\n")
	}
	for _, c := range o.Cases {
		switch c.Outcome {
		case conformance.Failed:
			a.printf("\nFAILED  %s\n\n%s\n", c.Detail, c.Repro)
		case noVerdict:
			a.printf("\nNO VERDICT  %s\n\n%s\n", c.Detail, c.Repro)
		}
	}
}

// skips returns each reason for skipping cases, followed by the cases.
func (o *conformanceJSON) skips() []string {
	var reasons []string
	ids := map[string][]string{}
	for _, c := range o.Cases {
		if c.Outcome != conformance.Skipped {
			continue
		}
		if ids[c.Detail] == nil {
			reasons = append(reasons, c.Detail)
		}
		ids[c.Detail] = append(ids[c.Detail], c.ID)
	}
	for i, r := range reasons {
		all, more := ids[r], ""
		if len(all) > 8 {
			all, more = all[:8], ", …"
		}
		reasons[i] = fmt.Sprintf("%d: %s (%s%s)", len(ids[r]), r, strings.Join(all, ", "), more)
	}
	return reasons
}
