package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/overlap"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
	"github.com/durosim/durosim/sim/timeline"
)

// oracleCmd implements `simrun oracle`, which checks a provider in any language against the contract.
type oracleCmd struct {
	provider

	Seed      *seed         `help:"Make the sequence of this seed only." placeholder:"N" xor:"seeds"`
	Seeds     seedRange     `help:"Make this many sequences, or those of a range of seeds such as 5..9; 1,000 if not given." placeholder:"N|A..B" xor:"seeds"`
	Timeout   time.Duration `help:"The time limit for one answer; a program has at least 3s for its first." default:"10s"`
	Deny      []string      `help:"Deny a freedom that the contract leaves to providers, such as F9; may be repeated. simrun list freedoms has them." placeholder:"FREEDOM"`
	Known     string        `help:"A TOML file of known mistakes: the search continues after them, and reports those that no longer occur." placeholder:"FILE"`
	KeepGoing bool          `help:"Make all sequences, and sort the rejected answers into classes, each with its shortest story."`
	Stories   bool          `help:"Print the stories of known mistakes, too."`
	Log       string        `help:"Judge this recorded log of calls in place of a program, one call per line; - reads standard input." placeholder:"FILE"`
	Overlap   bool          `help:"Have two or three callers call at the same time, and look for an order of their calls that the contract allows; a call that never ends is a deadlock."`
	JSON      bool          `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (oracleCmd) Help() string {
	return `Starts a program that offers a storage provider over JSON-RPC (docs/oracle-protocol.md), makes random sequences of calls on it, advancing time in between, and compares each answer with the contract. The first sequence with an answer that the contract does not allow is shortened, and shown with the allowed answers. Checks that need something the program does not offer are skipped, and listed. A program that declares itself durable is killed in every fifth sequence, and started again, but not with --overlap.

With --log it reads a log of calls that were made on an initially empty store, one after another, and names the first answer that the contract does not allow, with the allowed ones. A line is a JSON object with at_ms, method, params, and result or error; oracle.Record writes such logs in Go.

Examples:

    simrun oracle -- python3 provider.py
    simrun oracle --seeds 20000 --timeout 30s -- ./provider --in-memory
    simrun oracle --keep-going --deny F9 --known known.toml -- ./provider
    simrun oracle --overlap --timeout 2s -- ./provider
    simrun oracle --log calls.jsonl
    simrun oracle --seed 17 -- simrun serve --bug provider/filter-ignored

If the program gives no answer, or the search is interrupted (Ctrl-C, SIGTERM), it reports the sequences that were made, and ends with the command for the others.

Exit status: 0 nothing found except known mistakes, 1 an answer is not allowed or has the wrong form, or the program ended during a call, 2 usage, or the program does not answer, 130 interrupted.`
}

// startPatience is the time that a program has for its first answer, if --timeout is less.
const startPatience = 3 * time.Second

// stopPatience is the maximum time a provider may take to exit after its input has ended.
const stopPatience = 5 * time.Second

type oracleJSON struct {
	Provider   string        `json:"provider"`
	Version    string        `json:"version"`
	LeftOut    []string      `json:"left_out"`
	FirstSeed  string        `json:"first_seed"`
	Seeds      uint64        `json:"seeds"`
	Made       uint64        `json:"made"` // number of sequences run so far, one per seed
	Passed     uint64        `json:"passed"`
	Warnings   []warningJSON `json:"warnings"`
	Finding    *findingJSON  `json:"finding"`
	Findings   []findingJSON `json:"findings"`
	Unseen     []string      `json:"known_not_seen"`
	NoVerdict  string        `json:"no_verdict,omitempty"` // why the next seed has no verdict
	Unanswered []string      `json:"unanswered,omitempty"` // its calls, the last of which has no valid answer
	Alone      string        `json:"alone,omitempty"`      // the command that runs that seed alone
	GoOn       string        `json:"go_on,omitempty"`      // the command that runs the remaining seeds
	ExitStatus int           `json:"exit_status"`

	stopped, durable bool
}

type warningJSON struct {
	Freedom   string `json:"freedom"`
	Summary   string `json:"summary"`
	Sequences int    `json:"sequences"`
	Seed      string `json:"seed"`
}

type findingJSON struct {
	Class      string   `json:"class"`
	Sequences  int      `json:"sequences"`
	Known      bool     `json:"known"`
	Reason     string   `json:"reason,omitempty"`
	Link       string   `json:"link,omitempty"`
	Seed       string   `json:"seed"`
	Calls      int      `json:"calls"`
	Refusal    string   `json:"refusal"`
	Transcript []string `json:"transcript"`
	Shortest   bool     `json:"shortest"` // no call can be removed
	Repro      string   `json:"repro"`

	heading string
}

func (c *oracleCmd) run(a *app) (status int, err error) {
	seeds := c.Seed.alone(c.Seeds.or(1000))
	if c.Timeout <= 0 {
		return 0, fmt.Errorf("--timeout %v: expected a positive time", c.Timeout)
	}
	options := search.Options{First: seeds.first, Sequences: int(seeds.count), KeepGoing: c.KeepGoing}
	if options.Oracle.Deny, err = freedoms(c.Deny); err != nil {
		return 0, err
	}
	known, err := readKnown(a.program, c.Known)
	if err != nil {
		return 0, err
	}
	denied, err := c.denied()
	if err != nil {
		return 0, err
	}
	if c.Log != "" {
		return c.judgeLog(a, slices.Concat(options.Oracle.Deny, denied))
	}
	options.Known = known.classes(slices.Concat(options.Oracle.Deny, denied))
	if c.Overlap {
		options.Oracle.Deny = slices.Concat(options.Oracle.Deny, denied)
		return c.runOverlap(a, seeds, options.Oracle)
	}
	peer, err := c.dial(c.Timeout)
	if err != nil {
		return 0, err
	}
	defer func() { peer.stop() }()
	store := func() (*undertest.Store, error) {
		if peer.gone || engine.Mistaken(peer.broken()) && (!peer.client.Resume() || peer.client.Reset(context.Background()) != nil) {
			peer.stop()
			fresh, err := c.dial(c.Timeout)
			if err != nil && peer.gone {
				err = fmt.Errorf("remove what the kill has left, so that it starts again: %w", err)
			}
			if err != nil {
				return nil, err
			}
			fresh.first = peer.first
			peer = fresh
		}
		return peer.store()
	}
	bar := newProgress(a.stderr, "sequences")
	defer bar.clear()
	done := uint64(0)
	options.Done = func() {
		done++
		bar.none(done, seeds.count)
	}
	options.Context = a.interruptible()
	report, err := search.Search(undertest.Factory{New: store, Alone: c.alone(peer, c.Timeout), Contract: c.Contract}, options)
	bar.clear()
	if err != nil && (report == nil || report.Made == 0 && len(report.Findings) == 0 && report.Unanswered == nil) {
		return 0, fmt.Errorf("%s: no verdict after %d sequences: %w", c.name(), done, err)
	}
	out := c.report(peer, report, seeds)
	if err != nil {
		out.Unanswered = report.Unanswered
		c.broke(out, err, seeds)
	}
	return a.show("oracle", c.JSON, out.ExitStatus, out, func() { a.printOracle(out, c.Stories) })
}

// loggedJSON is the object printed by oracle --log --json.
type loggedJSON struct {
	Calls      int    `json:"calls"`
	Line       int    `json:"line,omitempty"`
	Refusal    string `json:"refusal,omitempty"`
	ExitStatus int    `json:"exit_status"`
}

// judgeLog checks a recorded log of a provider's answers against the contract.
func (c *oracleCmd) judgeLog(a *app, deny []oracle.Freedom) (int, error) {
	if len(c.Command) > 0 || c.Connect.network != "" || c.Seed != nil || c.Seeds.count > 0 || c.Known != "" || c.KeepGoing || c.Stories || c.Overlap {
		return 0, errors.New("--log judges the calls of the log: it takes --contract, --deny and --json, and no provider")
	}
	data, err := readFile(c.Log)
	if err != nil {
		return 0, fmt.Errorf("--log: %w", err)
	}
	name := c.Log
	if name == "-" {
		name = "standard input"
	}
	calls, err := oracle.CheckLog(bytes.NewReader(data), oracle.Options{Deny: deny})
	out := loggedJSON{Calls: calls}
	var wrong *oracle.LogError
	switch {
	case err == nil:
	case errors.As(err, &wrong) && wrong.Refusal != nil:
		out.Line, out.Refusal, out.ExitStatus = wrong.Line, wrong.Refusal.Error(), exitSafety
	case wrong != nil:
		return 0, fmt.Errorf("%s:%d: %w", name, wrong.Line, wrong.Err)
	default:
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if err == nil && calls == 0 {
		return 0, fmt.Errorf("%s: the log has no calls", name)
	}
	switch {
	case c.JSON:
		return out.ExitStatus, a.writeJSON("oracle", out)
	case out.ExitStatus == exitOK:
		a.printf("%s: %s calls, the contract allows every answer\n", name, grouped(uint64(calls)))
	default:
		a.printf("%s:%d: REFUSED after %s allowed calls\n\n%s\n", name, out.Line, grouped(uint64(calls)), out.Refusal)
	}
	return out.ExitStatus, nil
}

// report converts the findings to printable form.
func (c *oracleCmd) report(peer *remote, r *search.Report, seeds seedRange) *oracleJSON {
	d := peer.first
	out := &oracleJSON{Provider: d.Name, Version: d.Version, LeftOut: peer.leftOut(r),
		FirstSeed: decimal(seeds.first), Seeds: seeds.count, Made: uint64(r.Made), Passed: uint64(r.Passed), Warnings: []warningJSON{}, Findings: []findingJSON{}, Unseen: []string{},
		stopped: r.Unknown() != nil && !c.KeepGoing, durable: d.Durable && peer.again != nil}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, warningJSON{string(w.Freedom), w.Summary, w.Sequences, decimal(w.Seed)})
	}
	told := map[string]bool{}
	for _, f := range r.Findings {
		shown := findingJSON{Class: f.Class, Sequences: f.Count, Seed: decimal(f.Seed), Calls: f.Refusal.Number, Refusal: f.Refusal.Error(),
			Transcript: f.Transcript, Shortest: f.Shortest, heading: f.Heading("sequence of calls"), Repro: (&oracleCmd{provider: c.provider, Seed: (*seed)(&f.Seed), Deny: c.Deny}).line()}
		if f.First < f.Seed {
			shown.Repro = (&oracleCmd{provider: c.provider, Seeds: seedRange{first: f.First, count: f.Seed - f.First + 1}, Deny: c.Deny, Known: c.Known, KeepGoing: c.KeepGoing}).line()
		}
		if f.Known != nil {
			shown.Known, shown.Reason, shown.Link = true, f.Known.Reason, f.Known.Link
			told[f.Known.Reason] = true
		} else if out.Finding == nil {
			out.Finding, out.ExitStatus = &shown, exitSafety
		}
		out.Findings = append(out.Findings, shown)
	}
	// Report each entry only once. Skip an entry if one of its classes was seen or if another of its classes has
	// already been reported.
	for _, k := range r.Unseen {
		if !told[k.Reason] {
			out.Unseen = append(out.Unseen, k.Class)
		}
		told[k.Reason] = true
	}
	return out
}

// broke records that the search stopped early, and the command for resuming at the seed without a verdict, or behind it if
// that seed has no valid answer.
func (c *oracleCmd) broke(out *oracleJSON, err error, seeds seedRange) {
	rest := seedRange{first: seeds.first + out.Made, count: seeds.count - out.Made}
	out.Unseen = []string{}
	out.stopped, out.NoVerdict = false, fmt.Sprintf("no verdict on seed %d: %v", rest.first, err)
	switch {
	case errors.Is(err, context.Canceled):
		out.NoVerdict, out.ExitStatus = "interrupted", exitStopped
	case out.ExitStatus == exitOK:
		out.ExitStatus = exitUsage
	}
	if out.Unanswered != nil {
		alone := seed(rest.first)
		out.Alone = (&oracleCmd{provider: c.provider, Seed: &alone, Timeout: c.Timeout, Deny: c.Deny}).line()
		rest.first, rest.count = rest.first+1, rest.count-1
	}
	if rest.count > 0 {
		left := *c
		left.Seed, left.Seeds = nil, rest
		out.GoOn = left.line()
	}
}

// line returns the command line with those flags.
func (c *oracleCmd) line() string {
	return c.provider.line("oracle", *c)
}

func freedoms(ids []string) ([]oracle.Freedom, error) {
	all := oracle.Freedoms()
	known := idsOf(all, func(f oracle.FreedomInfo) string { return string(f.ID) })
	var list []oracle.Freedom
	for _, id := range ids {
		if err := oneOf("--deny", id, known); err != nil {
			return nil, err
		}
		if f := all[slices.Index(known, id)]; f.Always() {
			return nil, fmt.Errorf("--deny %s: it cannot be denied: %s", id, f.Branch)
		}
		list = append(list, oracle.Freedom(id))
	}
	return list, nil
}

func (a *app) printOracle(o *oracleJSON, stories bool) {
	t := timeline.Table{}
	line := func(what, format string, args ...any) {
		t.Row(false, append([]string{what}, strings.Split(fmt.Sprintf(format, args...), "\t")...)...)
	}
	line("provider", "%s %s", o.Provider, o.Version)
	if o.NoVerdict != "" {
		line("sequences", "%s\tof %s, from seed %s on; %s", grouped(o.Made), grouped(o.Seeds), o.FirstSeed, o.NoVerdict)
	} else if o.Made < o.Seeds {
		line("sequences", "%s\tof %s, from seed %s on", grouped(o.Made), grouped(o.Seeds), o.FirstSeed)
	} else {
		line("sequences", "%s\tfrom seed %s on", grouped(o.Seeds), o.FirstSeed)
	}
	line("passed", "%s\t%s", grouped(o.Passed), passedNote(o))
	for _, left := range o.LeftOut {
		line("not checked", "%s", left)
	}
	for _, w := range o.Warnings {
		line("warning", "%s sequences need freedom %s, first with seed %s: %s", grouped(uint64(w.Sequences)), w.Freedom, w.Seed, w.Summary)
	}
	for _, f := range o.Findings {
		switch {
		case f.Known:
			line("known", "%s sequences: %s (%s)", grouped(uint64(f.Sequences)), f.Class, strings.TrimSpace(f.Reason+" "+f.Link))
		case !o.stopped:
			line("refused", "%s sequences: %s", grouped(uint64(f.Sequences)), f.Class)
		}
	}
	for _, class := range o.Unseen {
		line("not seen", "known, and gone if this search was long enough: %s", class)
	}
	a.printTable("", t, 3)
	for _, f := range o.Findings {
		what := "REFUSED"
		if f.Known {
			what = "KNOWN"
		}
		if f.Known && !stories {
			continue
		}
		a.printf("\n%s  seed %s; the %s:\n\n", what, f.Seed, f.heading)
		for _, line := range f.Transcript {
			a.printf("%s\n", line)
		}
		a.printf("%s\n\n", f.Refusal)
		if o.durable {
			a.printf("What a kill leaves depends on its moment: repeat this up to ten times, each time with a new file. If all pass, look at reset, and at how the program opens what it finds.\n")
		}
		a.printf("%s\n", f.Repro)
	}
	if o.Unanswered != nil {
		a.printf("\nNO VERDICT  the calls of the sequence, of which the last has no valid answer:\n\n")
		for _, line := range o.Unanswered {
			a.printf("%s\n", line)
		}
		a.printf("\n%s\n", o.Alone)
	}
	if o.GoOn != "" {
		a.printf("\nTo continue with the other seeds:\n%s\n", o.GoOn)
	}
}

func passedNote(o *oracleJSON) string {
	switch {
	case o.stopped:
		return "stopped at the first answer that is not allowed"
	case o.Finding != nil:
		return "the others end with an answer that is not allowed"
	case len(o.Findings) > 0:
		return "the others end with an answer that is known to be wrong"
	}
	return "the contract allows every answer"
}

type overlapJSON struct {
	Provider   string              `json:"provider"`
	Version    string              `json:"version"`
	FirstSeed  string              `json:"first_seed"`
	Seeds      uint64              `json:"seeds"`
	Made       int                 `json:"made"`
	Undecided  int                 `json:"undecided"` // programs whose search for an allowed order took too long
	Alone      int                 `json:"alone"`     // programs that fail even without overlapping calls
	Empty      int                 `json:"empty"`     // programs that made no call, since the provider lacks the methods
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
	bar := newProgress(a.stderr, "programs")
	defer bar.clear()
	done := uint64(0)
	report, err := overlap.Search(undertest.Factory{New: peer.store}, overlap.Options{Oracle: promises, First: seeds.first, Programs: int(seeds.count),
		Patience: c.Timeout, Context: a.interruptible(), Done: func() {
			done++
			bar.none(done, seeds.count)
		}})
	bar.clear()
	if err != nil && !errors.Is(err, context.Canceled) {
		return 0, fmt.Errorf("%s: no verdict after %d programs: %w", c.name(), report.Made, err)
	}
	out := &overlapJSON{Provider: d.Name, Version: d.Version, FirstSeed: decimal(seeds.first), Seeds: seeds.count,
		Made: report.Made, Undecided: report.Undecided, Alone: report.Alone, Empty: report.Empty, Lacks: append([]string{}, report.Lacks...)}
	switch {
	case err != nil:
		out.ExitStatus = exitStopped
	case report.Made == report.Undecided+report.Alone+report.Empty:
		out.ExitStatus = exitUsage
	}
	if f := report.Finding; f != nil {
		if f.Class == overlap.NoAnswer {
			end = peer.abandon
			f.Story = strings.TrimRight(f.Story+"\n"+peer.became(peer.client.Ended()), "\n")
		}
		out.Finding, out.ExitStatus = &overlapFindingJSON{Class: f.Class, Seed: decimal(f.Seed), Calls: f.Calls, Story: f.Story}, exitSafety
	}
	return a.show("oracle", c.JSON, out.ExitStatus, out, func() { a.printOverlap(out) })
}

func (a *app) printOverlap(r *overlapJSON) {
	t := timeline.Table{}
	t.Row(false, "provider", r.Provider+" "+r.Version)
	t.Row(false, "programs", grouped(uint64(r.Made)), "from seed "+r.FirstSeed+" on, with overlapping calls")
	if r.Undecided > 0 {
		t.Row(false, "undecided", grouped(uint64(r.Undecided)), "the search for an order took too long")
	}
	if r.Alone > 0 {
		t.Row(false, "skipped", grouped(uint64(r.Alone)), "wrong without overlapping calls, too: simrun oracle without --overlap shows how")
	}
	if r.Empty > 0 {
		t.Row(false, "skipped", grouped(uint64(r.Empty)), "without a call, since the provider does not have the methods")
	}
	if len(r.Lacks) > 0 {
		t.Row(false, "not called", fmt.Sprint(len(r.Lacks)), "methods that it does not have: "+strings.Join(r.Lacks, ", "))
	}
	if r.ExitStatus == exitUsage {
		t.Row(false, "passed", "-", "no program could be judged: this is no verdict")
	} else if r.Finding == nil {
		t.Row(false, "passed", grouped(uint64(r.Made-r.Undecided-r.Alone-r.Empty)), "the contract allows some order of the calls of each")
	}
	a.printTable("", t, 3)
	if f := r.Finding; f != nil {
		a.printf("\n%s  seed %s, %s:\n\n%s\n", a.style.bad("REFUSED"), f.Seed, f.Class, f.Story)
	}
}

// knownFile lists known mistakes. oracle, conformance and run read the same file.
type knownFile struct {
	Known []knownMistake
}

// knownMistake is one entry. It says how to recognize the mistake and why it has not been fixed.
type knownMistake struct {
	// Class, or each element of Classes, is a substring of the class of one of the oracle's findings.
	Class   string
	Classes []string
	// Property is the ID of the property that runs violate because of the mistake. Class is then part of the evidence.
	Property string
	// Cases lists the IDs of the cases that fail because of the mistake.
	Cases []string
	// Deny lists freedoms granted by the contract. If Deny is not empty, the mistake is expected only if one of these
	// freedoms is denied; otherwise, the mistake does not show.
	Deny []string
	// Reason describes the mistake or explains why it has not been fixed.
	Reason string
	Link   string
	// The remaining fields are for human readers. Title is a heading, Consequence the effect on users, Fix the remedy,
	// and Where the location. Releases lists the affected releases, and Upstream gives the upstream authors' view.
	// Shown says how to reproduce a mistake that these checks do not reveal. Story is the shortest sequence of calls
	// that reveals it.
	Title, Consequence, Fix, Where, Releases, Upstream, Shown, Story string
}

func readKnown(p *Program, name string) (*knownFile, error) {
	file := &knownFile{}
	if name == "" {
		return file, nil
	}
	meta, err := toml.DecodeFile(name, file)
	if err != nil {
		return nil, fmt.Errorf("--known: %s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("--known: %s: unknown key %q; an entry is [[known]] with class, classes, cases or property, with reason and link, and optionally deny, title, consequence, fix, where, releases, upstream, shown and story", name, unknown[0].String())
	}
	cases := idsOf(conformance.Cases(), func(c conformance.Case) string { return c.ID })
	for i := range file.Known {
		k := &file.Known[i]
		if k.Class != "" {
			k.Classes = append(k.Classes, k.Class)
		}
		if len(k.Classes)+len(k.Cases) == 0 && k.Story == "" && k.Property == "" || slices.Contains(k.Classes, "") || k.Reason == "" {
			return nil, fmt.Errorf("--known: %s: entry %d: expected a class, which is part of the class of a finding, or cases, or a property, and a reason", name, i+1)
		}
		if hint := p.misspelt(k.Property); hint != "" {
			return nil, fmt.Errorf("--known: %s: entry %d: no property has the id %q%s", name, i+1, k.Property, hint)
		}
		for _, id := range k.Cases {
			if !slices.Contains(cases, id) {
				return nil, fmt.Errorf("--known: %s: entry %d: no case has the id %q", name, i+1, id)
			}
		}
	}
	return file, nil
}

// classes converts the entries to the oracle's form. denied lists the denied freedoms. Entries that require a denial
// come first.
func (f *knownFile) classes(denied []oracle.Freedom) []search.Known {
	var needing, others []search.Known
	for _, k := range f.Known {
		expected := slices.ContainsFunc(k.Deny, func(id string) bool { return slices.Contains(denied, oracle.Freedom(id)) })
		for _, class := range k.Classes {
			entry := search.Known{Class: class, Reason: k.Reason, Link: k.Link}
			switch {
			case len(k.Deny) == 0:
				others = append(others, entry)
			case expected:
				needing = append(needing, entry)
			}
		}
	}
	return append(needing, others...)
}

// ofCase returns the entry that expects case id to fail, or nil if there is none.
func (f *knownFile) ofCase(id string) *knownMistake {
	if i := slices.IndexFunc(f.Known, func(k knownMistake) bool { return slices.Contains(k.Cases, id) }); i >= 0 {
		return &f.Known[i]
	}
	return nil
}
