package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/timeline"
)

// schema is the version of the format printed by --json. Adding a field does not change it.
const schema = 1

// report is the result of a campaign or of a run, for every form of output: its JSON is what --json prints, its tables
// are those of the text, of the summary in Markdown and of the page.
type report struct {
	Scenario  string `json:"scenario"`
	FirstSeed uint64 `json:"first_seed,string"`
	*campaign.Summary
	SecondJudge    uint64  `json:"second_judge"` // how many of the seeds it watched
	VirtualSeconds float64 `json:"virtual_seconds"`
	Wall           seconds `json:"wall_seconds"`
	// Unreached lists the reachable points that were not reached. Missed lists the required points among them. If there
	// are any, the campaign is vacuous.
	Unreached []string `json:"unreached"`
	Missed    []string `json:"missed"`
	// Contract and Plan are the two verdicts, each a single sentence.
	Contract string `json:"contract"`
	Plan     string `json:"plan"`
	// Windows lists the upgrade windows of the plan, if it is an upgrade.
	Windows []upgrade.Window `json:"windows,omitempty"`
	// Stored lists the files written for failures.
	Stored []string `json:"stored"`
	// Findings lists the subject's entries in the findings file.
	Findings []*knownFinding `json:"findings,omitempty"`
	// Known counts the violations that do not count, since a file says that they are known.
	Known []knownSeen `json:"known,omitempty"`
	// Portfolio counts the results of each chooser in the portfolio. It is empty without a portfolio.
	Portfolio  []memberCount `json:"portfolio,omitempty"`
	Confidence *confidence   `json:"confidence,omitempty"`
	// NoRun says why a seed has no run, before which the campaign has ended, and NoRunRepro is the command line for it.
	NoRun      string `json:"no_run,omitempty"`
	NoRunRepro string `json:"no_run_repro,omitempty"`
	// GoOn is the command line for running the rest of an interrupted campaign.
	GoOn   string `json:"go_on,omitempty"`
	Status int    `json:"exit_status"`
	// For a replay: the selected lines of the story, the verdict of the stored run, and what differs from it.
	Story    []storyLine `json:"story,omitempty"`
	Expected string      `json:"expected_verdict,omitempty"`
	Notices  []string    `json:"notices,omitempty"`

	subject *subject
	seeds   seedRange
	shard   shard
	// anew means that GoOn begins again: what is done is not kept.
	anew bool
	// found is the exit status according to the campaign's results alone. Status is the command's exit status.
	found int
	// damaged means that the export of a store, with which the runs began, is incomplete, so that they say nothing about
	// the contract.
	damaged bool
	// handler is the violation that names the handler responsible for the first drift, or nil if no handler is.
	handler *campaign.Violation
	// instances makes the report list every instance in the description of how the work ended.
	instances bool
	// confident makes the report include the confidence even if there are fewer than confidentFrom seeds.
	confident bool
	// details makes the report of a user's file name unreached points and mistakes of releases, as that of a built-in
	// scenario does.
	details bool
	// small is the shrunk form of the failure that determines the exit status. It is nil if shrinking failed, or was
	// skipped because it would have taken too long.
	small *shrunk
}

// seconds is a duration that JSON shows in seconds.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

func newReport(s *subject, sum *campaign.Summary, seeds seedRange) *report {
	r := &report{subject: s, Summary: sum, Scenario: s.scenario.Name, FirstSeed: seeds.first, seeds: seeds}
	r.VirtualSeconds, r.Stored = float64(sum.Virtual)/1000, []string{}
	r.Missed, r.Unreached = sum.Missed(s.required(sum.Seeds)), sum.Missed(s.reachable())
	r.found = summaryExit(sum, r.Missed)
	if s.begins != nil && len(s.begins.Snapshot.Problems) > 0 {
		r.damaged, r.found = true, exitUsage
	}
	r.Status = r.found
	r.judge(sum.Plan())
	if p, err := s.plan(seeds.first); err == nil { // other seeds' plans have the same windows at different times
		r.Windows, _ = upgrade.Windows(p, s.program.builds()) // an unknown build has been reported by the runs
	}
	if len(sum.Drifts) > 0 {
		seed := sum.Drifts[0].Seed
		if cfg, err := s.config(seed); err == nil {
			if v, ok := campaign.DoubleCheck(cfg); ok {
				r.handler = &campaign.Violation{Seed: seed, Violation: v}
				sum.Drifts[0].Handler = v.Message
			}
		}
	}
	return r
}

func (r *report) judge(verdict string) {
	r.Contract, r.Plan = r.contract(), strings.TrimPrefix(verdict, "plan: ")
}

// verdicts returns both verdicts, as sentences with sep in between.
func (r *report) verdicts(sep string) string {
	return "contract: " + r.Contract + sep + "plan: " + r.Plan
}

// printJSON prints the report as JSON.
func (a *app) printJSON(verb string, r *report, v any) (int, error) {
	for i := range r.Violations {
		if v := &r.Violations[i]; v.Repro == "" {
			v.Repro = r.subject.repro(v.Seed)
		}
	}
	return r.Status, a.writeJSON(verb, v)
}

// writeJSON prints v, which must be a struct, as an object with its schema and verb, and nothing else.
func (a *app) writeJSON(verb string, v any) error {
	var text, indented bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		fields := strings.TrimPrefix(text.String(), "{")
		err = json.Indent(&indented, fmt.Appendf(nil, `{"schema":%d,"verb":%q,%s`, schema, verb, fields), "", "  ")
	}
	if err != nil {
		return &crash{fmt.Errorf("JSON: %w", err)}
	}
	_, _ = a.stdout.Write(indented.Bytes()) // Run reports write errors
	return nil
}

// reachable returns the points that the subject's runs can reach. It excludes the points for faults that these runs
// never inject.
func (s *subject) reachable() []string {
	load := s.scenario.Template.Faults
	if s.over.Faults != nil {
		load = *s.over.Faults
	}
	var points []string
	for _, p := range properties.CoveragePoints() {
		if kind, ofFault := strings.CutPrefix(p.Name, "fault "); !ofFault || load.Has(faults.Kind(kind)) {
			points = append(points, p.Name)
		}
	}
	for _, e := range s.scenario.Expect {
		if e.Mode != plan.ModeNever {
			points = append(points, e.PointName())
		}
	}
	return points
}

// newStatus returns the exit status if known violations are ignored.
func (r *report) newStatus() int {
	rest := *r.Summary
	rest.Properties = slices.DeleteFunc(slices.Clone(rest.Properties), func(p campaign.PropertyCount) bool {
		return !slices.ContainsFunc(r.Findings, func(k *knownFinding) bool { return k.violation().Rule() == p.First.Rule() && k.isNews() })
	})
	if r.damaged {
		return exitUsage
	}
	return summaryExit(&rest, r.Missed)
}

// know sets what was seen of known mistakes, and says so in the verdict.
func (r *report) know(seen []knownSeen) {
	r.Known = seen
	r.judge(r.Summary.Plan())
}

// excused lists the properties whose violations, or some, do not count since they are known.
func (r *report) excused() (ids []string) {
	for _, k := range r.Known {
		if k.Violations > 0 && !slices.Contains(ids, k.Property) {
			ids = append(ids, k.Property)
		}
	}
	return ids
}

// deciding returns the first violation of the class that determines the exit status. This violation is the one to
// investigate first.
func (r *report) deciding() (v campaign.Violation, ok bool) {
	for _, p := range r.Properties {
		if classExit[p.Class] == r.found {
			return p.First, true
		}
	}
	return v, false
}

// shown is the maximum number of failures printed in full. shownStack is the maximum number of stack lines printed for
// an internal error.
const (
	shown      = 8
	shownStack = 40
)

// byWeight sorts defects in durosim first and the scenario's expectations last, because there may be many expectations.
func byWeight(list []campaign.PropertyCount) []campaign.PropertyCount {
	weight := func(p campaign.PropertyCount) int {
		switch {
		case p.Class == cluster.ClassInternal:
			return 0
		case p.First.Expectation == "":
			return 1
		}
		return 2
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b campaign.PropertyCount) int { return weight(a) - weight(b) })
	return list
}

func (a *app) printCampaign(r *report) {
	a.printTable("", r.totals(), 3)
	a.printf("\n%s\n", r.verdicts("\n"))
	a.printKnown(r)
	if len(r.Properties) > 0 {
		a.printf("\n")
		a.printTable("", r.violated(), 5)
	}
	for i, d := range r.Drifts {
		a.printf("\n%s: seed %d gave two different runs\n  first   %s\n  second  %s\n", a.style.bad("NOT DETERMINISTIC"), d.Seed, d.First, d.Second)
		if i > 0 {
			continue
		}
		if r.handler == nil {
			a.printf("  computing each turn twice does not show why: the cause is outside the orchestrations, such as an activity with state\n")
			continue
		}
		a.printf("\nWith each turn computed twice:\n")
		a.printViolation(*r.handler)
	}
	for i, p := range byWeight(r.Properties) {
		if i == shown {
			a.printf("\n... and %s more; see the table above.\n", plural(uint64(len(r.Properties)-shown), "property", "properties"))
			break
		}
		a.printf("\n")
		a.printViolation(p.First)
	}
	for i, e := range r.Internal {
		if i == shown {
			break
		}
		a.printf("\n%s in seed %d: this is a defect of durosim\n  %s\n%s\n", a.style.bad("INTERNAL ERROR"), e.Seed, e.Text, indent(firstLines(e.Stack, shownStack)))
	}
	a.printSmall(r)
	if len(r.Missed) > 0 {
		a.printf("\n%s: %s seeds did not reach points that %s requires:\n", a.style.bad("VACUOUS"), grouped(r.Seeds), r.subject.scenario.Name)
		for _, m := range r.Missed {
			a.printf("  %s\n", m)
		}
	}
	for _, e := range r.subject.scenario.Expect {
		if r.Seeds > 0 && e.Mode == plan.ModeAlways && slices.Contains(r.Unreached, e.PointName()) {
			a.printf("\n%q (line %d) holds vacuously: no seed had what it is about\n", e.Text, e.Line)
		}
	}
	for _, f := range r.subject.scenario.SingleFaults() {
		if r.Seeds > 0 && f.Num > 0 && r.subject.over.Faults == nil && slices.Contains(r.Unreached, "fault "+string(f.Kind)) {
			a.printf("\n\"fault %s\" never struck: no seed shows anything of it\n", f.Kind)
		}
	}
	if text := r.Fate.Text(r.instances); text != "" {
		a.printf("\n%s", text)
	}
	try := ""
	if r.details || !r.subject.userOnly {
		try = r.subject.program.name() + " run --bug ID " + commandline.Join(r.subject.arg)
	}
	a.printf("%s", upgrade.WindowsText(r.Windows, try))
	a.printPortfolio(r.Portfolio)
	a.printMatrix(r)
	a.printUnreached(r)
	if r.Confidence != nil {
		a.printf("\n%s", r.Confidence.text())
	}
	for _, f := range r.Stored {
		a.printf("\nstored run: %s\n", f)
	}
	if len(r.Findings) > 0 {
		a.printFindings(r.Findings)
	}
	if seed, ok := r.seedToSee(); ok {
		a.printf("\nTo see it again:\n%s\n", r.subject.repro(seed))
	}
	if r.NoRun != "" {
		a.printf("\n%s; the seeds from it on are not reported\n%s\n", r.NoRun, r.NoRunRepro)
	}
	if r.GoOn != "" {
		goOn := "To continue with the other seeds:"
		if r.anew {
			goOn = "The results are not written, since they are of all seeds. To begin again:"
		}
		a.printf("\nInterrupted. %s\n%s\n", goOn, r.GoOn)
	}
}

// seedToSee returns the seed whose replay shows the reason for the exit status.
func (r *report) seedToSee() (seed uint64, ok bool) {
	switch {
	case r.found == exitInternal && len(r.Internal) > 0:
		return r.Internal[0].Seed, true
	case r.found == exitDrift && len(r.Drifts) > 0:
		return r.Drifts[0].Seed, true
	}
	v, ok := r.deciding()
	return v.Seed, ok
}

// contract returns the verdict on the contract and, if the program's own rules are broken, on these. It covers everything
// except the plan's expectations.
func (r *report) contract() string {
	var broken, own []string
	long := uint64(0) // seeds whose runs were too long
	for _, p := range r.Properties {
		if p.Property == cluster.PropertyRunEnds && p.Class == cluster.ClassLiveness {
			long = p.Seeds
		}
		list := &broken
		if !properties.Reported(p.Property) {
			list = &own
		}
		if p.Class != cluster.ClassPlan && !slices.Contains(*list, propertyName(p.Property)) {
			*list = append(*list, propertyName(p.Property))
		}
	}
	var known, ownKnown []string
	for _, k := range r.Known {
		list := &known
		if !properties.Reported(k.Property) {
			list = &ownKnown
		}
		if name := propertyName(k.Property); k.Violations > 0 && k.Class != cluster.ClassPlan && !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	rest := ""
	switch {
	case len(own) > 0:
		rest = "; your own rules: broken: " + strings.Join(own, ", ")
	case len(ownKnown) > 0:
		rest = "; your own rules: held but for what is known: " + strings.Join(ownKnown, ", ")
	}
	switch {
	case r.Seeds == 0:
		return "not judged, since no run was finished"
	case len(r.Internal) > 0:
		return "not judged in every seed, because of a defect of durosim"
	case r.damaged && len(broken)+len(own) > 0:
		return "not judged, since the export is damaged; what it lacks can be why these runs show " + strings.Join(append(broken, own...), ", ")
	case r.damaged:
		return "not judged, since the export is damaged"
	case long > 0 && len(broken) == 1:
		return fmt.Sprintf("not judged to the end in %d of %d seeds (run-ends): the run is too long, or the code or the store goes on for ever", long, r.Seeds) + rest
	case len(broken) > 0:
		return "broken: " + strings.Join(broken, ", ") + rest
	}
	if len(known) > 0 {
		return "held but for what is known: " + strings.Join(known, ", ") + r.subject.unjudged() + rest
	}
	return "held" + r.subject.unjudged() + rest
}

// unjudged lists the properties that cannot be judged with the subject's clocks, as a phrase that ends a sentence.
func (s *subject) unjudged() string {
	p, err := s.plan(1)
	if err != nil {
		return "" // no seed has been run
	}
	ids := properties.NotJudged(p)
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("; not judged, since clocks differ by up to %v: %s", p.Skew(), strings.Join(ids, ", "))
}

// printViolation prints a violation with its property, place, node, instance and evidence.
func (a *app) printViolation(v campaign.Violation) {
	statement := cmp.Or(v.Statement, v.Expectation)
	if p, ok := properties.ByID(v.Property); ok {
		statement = p.Statement
	}
	v.Message = a.printable(v.Message) // before its lines are indented
	a.printf("%s  %s  (%s)\n%s", a.style.bad("VIOLATED"), a.style.title(propertyName(v.Property)), v.Class, v.Text(statement, fmt.Sprintf("seed %d, ", v.Seed)))
}

// ruleName returns the name of the violated rule: a property, or one of the scenario's expectations.
func ruleName(v cluster.Violation) string {
	if v.Expectation != "" {
		return v.Rule()
	}
	return propertyName(v.Property)
}

// propertyName returns a property's ID and name, or just the ID if the property is not in the catalogue.
func propertyName(id string) string {
	if p, ok := properties.ByID(id); ok {
		return p.String()
	}
	return id
}

func (a *app) printf(format string, args ...any) {
	_, _ = a.stdout.WriteString(a.printable(fmt.Sprintf(format, args...))) // Run reports write errors
}

// printable escapes the control characters of a text other than those of its layout, and in ids of the plan those, too.
func (a *app) printable(text string) string {
	if a.program.oddIDs != nil {
		text = a.program.oddIDs.Replace(text)
	}
	kept := []string{"\n", "\t"}
	if a.style.on {
		kept = append(kept, styleBad, styleTitle, styleQuiet, styleEnd)
	}
	return pretty.Escaped(text, kept...)
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

func firstLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	if len(lines) > n {
		lines = append(lines[:n:n], "...")
	}
	return strings.Join(lines, "\n")
}

// statuses lists the number of instances with each status of the contract, sorted by status.
func statuses(all []cluster.FinalState) string {
	counts := map[string]uint64{}
	for _, o := range all {
		state := cmp.Or(string(o.Status), string(cluster.NeverBegun))
		if o.Deleted {
			state = string(cluster.EndedDeleted)
		}
		counts[state]++
	}
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		kinds = append(kinds, grouped(counts[k])+" "+k)
	}
	return strings.Join(kinds, ", ")
}

func (r *report) totals() timeline.Table {
	which := "seeds " + r.seeds.String()
	if r.shard != (shard{}) {
		which += fmt.Sprintf(", part %d of %d", r.shard.index, r.shard.of)
	}
	if r.Total == 0 {
		which += ", which has no seed"
	}
	if r.Seeds < r.Total {
		which += fmt.Sprintf("; stopped early, of %s", grouped(r.Total))
	}
	t := timeline.Table{Title: "Totals", Open: true}
	rate := func(n uint64, what string) string {
		if r.Wall == 0 {
			return ""
		}
		return perSecond(n, time.Duration(r.Wall)) + " " + what + "/s"
	}
	t.Row(false, "scenario", r.Scenario, strings.Join(r.subject.options(), " "))
	t.Row(false, "seeds", grouped(r.Seeds), which)
	if r.Seeds > 0 {
		unjudged := ""
		if r.SecondJudge == 0 {
			unjudged = fmt.Sprintf("; %s are not judged without it (--self-check)", pretty.And(properties.OfSecondJudge()))
		}
		t.Row(false, "second judge", fmt.Sprintf("%s of %s seeds%s", grouped(r.SecondJudge), grouped(r.Seeds), unjudged))
	}
	note := "everything held"
	if len(r.excused()) > 0 {
		note = "everything but what is known held"
	}
	if r.Seeds == 0 {
		note = "no run was finished"
	} else if r.Passed < r.Seeds {
		note = grouped(r.Seeds-r.Passed) + " failed"
	}
	t.Row(r.Passed < r.Seeds, "passed", grouped(r.Passed), note)
	for _, f := range r.Figures() {
		t.Row(false, f.Name, grouped(f.Count), rate(f.Count, f.Name))
	}
	t.Row(false, "virtual time", pretty.Duration(r.Virtual))
	if r.Wall > 0 {
		t.Row(false, "wall time", fmt.Sprintf("%.2fs", time.Duration(r.Wall).Seconds()), rate(r.Seeds, "seeds"))
	}
	reached := len(r.Coverage)
	for _, p := range r.Coverage {
		if properties.IsMet(p.Name) { // a cell of the matrix, which is printed separately
			reached--
		}
	}
	note = "nothing left out"
	if n := len(r.Unreached); n > 0 {
		note = fmt.Sprintf("%d not", n)
	}
	t.Row(false, "coverage", fmt.Sprintf("%d reached", reached), note)
	t.Row(false, "digest", r.Digest.String())
	return t
}

func (r *report) violated() timeline.Table {
	t := timeline.Table{Title: "What did not hold", Open: true, Head: []string{"violated", "class", "seeds", "violations", "first seed", "see it", "make it small"}, Commands: 5}
	for _, p := range r.Properties {
		t.Row(true, ruleName(p.First.Violation), string(p.Class), grouped(p.Seeds), grouped(p.Violations), decimal(p.FirstSeed),
			r.subject.repro(p.FirstSeed), r.subject.line("shrink", p.FirstSeed, "--property", p.First.Rule()))
	}
	return t
}

// printTable prints the first columns of a table. A table without a head has names in its first column.
func (a *app) printTable(indent string, t timeline.Table, columns int) {
	for _, r := range t.Rows {
		if t.Head == nil {
			r.Cells[0] = a.style.quiet(r.Cells[0])
		}
	}
	a.printf("%s", t.Text(indent, columns, 3))
}

// printUnreached prints the coverage points that the campaign did not reach.
func (a *app) printUnreached(r *report) {
	if len(r.Unreached) == 0 || !r.details && r.subject.userOnly {
		return
	}
	required := ""
	if len(r.Missed) == 0 {
		required = ", and not required of this campaign"
	}
	a.printf("\nnot reached%s:\n%s", required, columns(r.Unreached, a.width))
}

// columns wraps words into indented lines of at most width bytes.
func columns(words []string, width int) string {
	var b strings.Builder
	line := " "
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		if len(line)+1+len(w) > width && line != " " {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + w
	}
	return b.String() + line + "\n"
}

// printMatrix prints how often each kind of fault hit each feature, if --matrix was given.
func (a *app) printMatrix(r *report) {
	if !r.subject.matrix && !r.subject.scenario.Matrix {
		return
	}
	filled, empty := 0, []string(nil)
	var rows strings.Builder
	for _, k := range faults.Kinds() {
		fmt.Fprintf(&rows, "  %-20s", k.Kind)
		for _, f := range properties.Features() {
			count := r.Count(properties.Met(string(k.Kind), f.Name))
			fmt.Fprintf(&rows, "%5s", short(count))
			if count > 0 {
				filled++
			} else {
				empty = append(empty, properties.Met(string(k.Kind), f.Name))
			}
		}
		rows.WriteString("\n")
	}
	a.printf("\nfaults and features that met: %d of %d\n  %-20s", filled, filled+len(empty), "")
	var legend []string
	for i, f := range properties.Features() {
		a.printf("%5c", 'a'+i)
		legend = append(legend, fmt.Sprintf("%c %s", 'a'+i, f.Name))
	}
	a.printf("\n%s%s", rows.String(), columns(legend, a.width))
}

// short formats a count in at most four characters.
func short(n uint64) string {
	switch {
	case n == 0:
		return "-"
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// markdown formats a campaign for a job summary. It shows the verdicts, the totals, the violations with the commands
// that reproduce them, and how the work ended.
func (r *report) markdown() string {
	var b strings.Builder
	mark := "✅"
	if r.Status != exitOK {
		mark = "❌"
	}
	fmt.Fprintf(&b, "### %s %s: %s seeds, %s passed\n\n%s\n", mark, r.Scenario, grouped(r.Seeds), grouped(r.Passed), r.verdicts("\n\n"))
	for _, t := range filled(r.violated(), knownTable(r.Findings), r.totals()) {
		b.WriteString("\n" + t.Markdown())
	}
	fmt.Fprintf(&b, "\n<details><summary>fate of the work</summary>\n\n```text\n%s```\n\n</details>\n\n", r.Fate.Text(false))
	return b.String()
}

// annotate prints a GitHub workflow command for each violated property. GitHub shows it as an annotation.
// With newOnly, a property without a new finding does not determine the exit status, and is a notice.
func (a *app) annotate(r *report, newOnly bool) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	title := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range r.Properties {
		first, level, known := p.First, "error", ""
		if newOnly {
			news := slices.IndexFunc(r.Findings, func(k *knownFinding) bool { return k.violation().Rule() == first.Rule() && k.isNews() })
			if news >= 0 {
				first = r.Findings[news].last
			} else {
				level, known = "notice", "known: "
			}
		}
		text := first.Message + "\n" + r.subject.repro(first.Seed)
		fmt.Fprintf(a.stderr, "::%s title=%s::%s\n", level, title.Replace(fmt.Sprintf("%s%s, seed %d", known, ruleName(first.Violation), first.Seed)), data.Replace(a.printable(text)))
	}
	for _, e := range r.Internal {
		fmt.Fprintf(a.stderr, "::error title=internal error%%2C seed %d::%s\n", e.Seed, data.Replace(e.Text))
	}
}
