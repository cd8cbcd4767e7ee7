package command

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/undertest"
)

// conformanceCmd is the verb conformance: it runs the contract's cases against a provider in any language.
type conformanceCmd struct {
	provider

	Run       string        `help:"Ask the cases whose line \"ID name #tag…\" matches, such as 'CF-|#filter'." placeholder:"REGEXP"`
	KeepGoing bool          `help:"Ask the other cases, too, after one has failed."`
	Timeout   time.Duration `help:"How long one answer may take." default:"10s"`
	JSON      bool          `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (conformanceCmd) Help() string {
	return `Starts a program that offers a storage provider over JSON-RPC (docs/oracle-protocol.md) and asks it the contract's cases, one after the other. A case that fails shows the calls that were made, with their answers, and what was expected instead. A case that needs what the program does not offer is skipped, and the table says why.

Examples:

    simrun conformance -- python3 provider.py
    simrun conformance --keep-going --run 'LX|#sessions' -- ./provider
    simrun conformance --run AT-01 -- simrun serve

Exit status: 0 no case failed, 1 one did, 2 usage, or the program does not speak the protocol.`
}

// conformanceJSON is the object that conformance --json prints.
type conformanceJSON struct {
	Schema     int         `json:"schema"`
	Verb       string      `json:"verb"`
	Provider   string      `json:"provider"`
	Version    string      `json:"version"`
	Asked      int         `json:"asked"`
	Passed     int         `json:"passed"`
	Failed     int         `json:"failed"`
	Skipped    int         `json:"skipped"`
	Groups     []groupJSON `json:"groups"`
	Cases      []caseJSON  `json:"cases"`
	ExitStatus int         `json:"exit_status"`

	left int // cases that were not run after a failure
}

type groupJSON struct {
	Group   string `json:"group"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
}

type caseJSON struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Group   string   `json:"group"`
	Tags    []string `json:"tags"`
	Outcome string   `json:"outcome"` // passed, failed or skipped
	Detail  string   `json:"detail,omitempty"`
}

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
		return 0, fmt.Errorf("--timeout %v: expected more than nothing", c.Timeout)
	}
	peer, err := c.dial(c.Timeout)
	if err != nil {
		return 0, err
	}
	defer peer.stop()
	bar := newProgress(a.stderr, "cases", uint64(len(cases)))
	defer bar.clear()
	d := peer.client.Described()
	out := &conformanceJSON{Schema: schema, Verb: "conformance", Provider: d.Name, Version: d.Version, Groups: []groupJSON{}, Cases: []caseJSON{}}
	for i, one := range cases {
		if out.Failed > 0 && !c.KeepGoing {
			out.left = len(cases) - i
			break
		}
		r := conformance.Ask(undertest.Factory{New: peer.store}, one.ID)[0]
		if err := peer.broken(); err != nil {
			return 0, fmt.Errorf("%s: no verdict on %s: %w", c.name(), one.ID, err)
		}
		out.add(r)
		bar.show(uint64(i+1), uint64(out.Failed))
	}
	bar.clear()
	if c.JSON {
		return out.ExitStatus, a.writeJSON(out)
	}
	a.printConformance(out)
	return out.ExitStatus, nil
}

// add counts a result.
func (o *conformanceJSON) add(r conformance.Result) {
	if n := len(o.Groups); n == 0 || o.Groups[n-1].Group != r.Group {
		o.Groups = append(o.Groups, groupJSON{Group: r.Group})
	}
	g := &o.Groups[len(o.Groups)-1]
	shown := caseJSON{ID: r.ID, Name: r.Name, About: r.About, Group: r.Group, Tags: append([]string{}, r.Tags...), Outcome: "passed"}
	o.Asked++
	switch {
	case r.Failure != "":
		shown.Outcome, shown.Detail, o.ExitStatus = "failed", r.Failure, exitSafety
		o.Failed++
		g.Failed++
	case r.Skipped != "":
		shown.Outcome, shown.Detail = "skipped", r.Skipped
		o.Skipped++
		g.Skipped++
	default:
		o.Passed++
		g.Passed++
	}
	o.Cases = append(o.Cases, shown)
}

func (a *app) printConformance(o *conformanceJSON) {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "%s\t%s %s\n", a.style.quiet("provider"), o.Provider, o.Version)
	fmt.Fprintf(t, "%s\t%d passed, %d failed, %d skipped%s\n", a.style.quiet("cases"), o.Passed, o.Failed, o.Skipped, o.note())
	flushTable(t)
	a.printf("\n")
	fmt.Fprintf(t, "%s\n", a.style.quiet("group\tpassed\tfailed\tskipped"))
	for _, g := range o.Groups {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", g.Group, g.Passed, g.Failed, g.Skipped)
	}
	flushTable(t)
	if reasons := o.skips(); len(reasons) > 0 {
		a.printf("\n")
		for _, r := range reasons {
			a.printf("%s  %s\n", a.style.quiet("skipped"), r)
		}
	}
	for _, c := range o.Cases {
		if c.Outcome == "failed" {
			a.printf("\nFAILED  %s\n", c.Detail)
		}
	}
}

func (o *conformanceJSON) note() string {
	if o.left > 0 {
		return fmt.Sprintf("; %d not asked after the failure", o.left)
	}
	return ""
}

// skips returns the reasons why cases were skipped, with the cases.
func (o *conformanceJSON) skips() []string {
	var reasons []string
	ids := map[string][]string{}
	for _, c := range o.Cases {
		if c.Outcome != "skipped" {
			continue
		}
		if ids[c.Detail] == nil {
			reasons = append(reasons, c.Detail)
		}
		ids[c.Detail] = append(ids[c.Detail], c.ID)
	}
	for i, r := range reasons {
		reasons[i] = fmt.Sprintf("%d: %s (%s)", len(ids[r]), r, few(ids[r], 8))
	}
	return reasons
}

// few returns the first items of a list.
func few(list []string, most int) string {
	if len(list) > most {
		return strings.Join(list[:most], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}
