package command

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// report is the result of a campaign, ready to be printed.
type report struct {
	subject *subject
	sum     *campaign.Summary
	seeds   seedRange
	shard   shard
	wall    time.Duration
	// found is the exit status according to the campaign's results alone. status is the command's exit status.
	found, status int
	// unreached lists the reachable points that this campaign did not reach. missed lists the required points among
	// them.
	unreached, missed []string
	// damaged means that the export of a store, with which the runs began, is incomplete, so that they say nothing about
	// the contract.
	damaged bool
	// goOn is the command line for running the rest of an interrupted campaign.
	goOn string
	// handler is the violation that names the handler responsible for the first drift, or nil if no handler is.
	handler *campaign.Violation
	// findings lists the subject's entries in the findings file.
	findings []*knownFinding
	// instances makes the report list every instance in the description of how the work ended.
	instances bool
	// windows lists the upgrade windows of the plan, if it is an upgrade.
	windows []upgrade.Window
	// portfolio counts the results of each chooser in the portfolio. It is empty without a portfolio.
	portfolio []memberCount
	// confident makes the report include the confidence even if there are fewer than confidentFrom seeds.
	confident bool
	// small is the shrunk form of the failure that determines the exit status. It is nil if shrinking failed, or was
	// skipped because it would have taken too long.
	small *shrunk
	// second counts the seeds that the second judge watched.
	second uint64
	// rate records the campaign's progress.
	rate rate
	// stored lists the files written for failures.
	stored []string
}

func newReport(s *subject, sum *campaign.Summary) *report {
	r := &report{subject: s, sum: sum, seeds: seedRange{first: 1, count: sum.Seeds}}
	r.missed = sum.Missed(s.required(sum.Seeds))
	r.unreached = sum.Missed(s.reachable())
	r.found = summaryExit(sum, r.missed)
	r.status = r.found
	if len(sum.Drifts) > 0 {
		seed := sum.Drifts[0].Seed
		if cfg, err := s.config(seed); err == nil {
			if v, ok := campaign.DoubleCheck(cfg); ok {
				r.handler = &campaign.Violation{Seed: seed, Violation: v}
			}
		}
	}
	return r
}

// windowsOf returns the upgrade windows in seed's plan. Other seeds' plans have the same windows at different times.
func windowsOf(s *subject, seed uint64) []upgrade.Window {
	p, err := s.plan(seed)
	if err != nil {
		return nil
	}
	all, err := upgrade.Windows(p, s.program.builds())
	if err != nil {
		return nil // an unknown build; the runs have already reported it
	}
	return all
}

// reachable returns the points that the subject's runs can reach. It excludes the points for faults that these runs
// never inject.
func (s *subject) reachable() []string {
	load := s.scenario.Template.Faults
	if s.over.Faults != nil {
		load = *s.over.Faults
	}
	unused := map[string]bool{}
	for _, f := range faults.Kinds() {
		unused["fault "+string(f.Kind)] = !load.Has(f.Kind)
	}
	var points []string
	for _, p := range properties.CoveragePoints() {
		if !unused[p.Name] {
			points = append(points, p.Name)
		}
	}
	return append(points, s.sometimes()...)
}

// newStatus returns the exit status if known violations are ignored.
func (r *report) newStatus() int {
	rest := *r.sum
	rest.Properties = slices.DeleteFunc(slices.Clone(rest.Properties), func(p campaign.PropertyCount) bool {
		return !slices.ContainsFunc(r.findings, func(k *knownFinding) bool { return k.violation().Rule() == p.First.Rule() && k.isNews() })
	})
	return summaryExit(&rest, r.missed)
}

// deciding returns the first violation of the class that determines the exit status. This violation is the one to
// investigate first.
func (r *report) deciding() (v campaign.Violation, ok bool) {
	for _, p := range r.sum.Properties {
		if classExit(p.Class) == r.found {
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
	a.printTable(r)
	for i, d := range r.sum.Drifts {
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
	for i, p := range byWeight(r.sum.Properties) {
		if i == shown {
			a.printf("\n... and %s more; see the table above.\n", plural(uint64(len(r.sum.Properties)-shown), "property", "properties"))
			break
		}
		a.printf("\n")
		a.printViolation(p.First)
	}
	for i, e := range r.sum.Internal {
		if i == shown {
			break
		}
		a.printf("\n%s in seed %d: this is a defect of durosim\n  %s\n%s\n", a.style.bad("INTERNAL ERROR"), e.Seed, e.Text, indent(firstLines(e.Stack, shownStack)))
	}
	a.printSmall(r)
	if len(r.missed) > 0 {
		a.printf("\n%s: %s seeds did not reach points that %s requires:\n", a.style.bad("VACUOUS"), grouped(r.sum.Seeds), r.subject.scenario.Name)
		for _, m := range r.missed {
			a.printf("  %s\n", m)
		}
	}
	if text := r.sum.Fate.Text(r.instances); text != "" {
		a.printf("\n%s", text)
	}
	a.printf("%s", upgrade.WindowsText(r.windows, "simrun run --bug ID "+commandline.Join(r.subject.arg)))
	a.printPortfolio(r.portfolio)
	a.printMatrix(r)
	a.printUnreached(r)
	if c := r.confidence(); c != nil {
		a.printf("\n%s", c.text())
	}
	for _, f := range r.stored {
		a.printf("\nstored run: %s\n", f)
	}
	if len(r.findings) > 0 {
		a.printFindings(r.findings)
	}
	if seed, ok := r.seedToSee(); ok {
		a.printf("\nTo see it again:\n%s\n", r.subject.repro(seed))
	}
	if r.goOn != "" {
		a.printf("\nInterrupted. To continue with the other seeds:\n%s\n", r.goOn)
	}
}

// seedToSee returns the seed whose replay shows the reason for the exit status.
func (r *report) seedToSee() (seed uint64, ok bool) {
	if v, ok := r.deciding(); ok && r.found != exitInternal {
		return v.Seed, true
	}
	switch {
	case r.found == exitInternal && len(r.sum.Internal) > 0:
		return r.sum.Internal[0].Seed, true
	case r.found == exitDrift && len(r.sum.Drifts) > 0:
		return r.sum.Drifts[0].Seed, true
	}
	v, ok := r.deciding()
	return v.Seed, ok
}

// contract returns the verdict on the contract, as one sentence. It covers everything except the plan's expectations.
func (r *report) contract() string {
	var broken []string
	for _, p := range r.sum.Properties {
		if p.Class != cluster.ClassPlan && !slices.Contains(broken, propertyName(p.Property)) {
			broken = append(broken, propertyName(p.Property))
		}
	}
	switch {
	case r.sum.Seeds == 0:
		return "contract: not judged, since no run was finished"
	case len(r.sum.Internal) > 0:
		return "contract: not judged in every seed, because of a defect of durosim"
	case r.damaged && len(broken) > 0:
		return "contract: not judged, since the export is damaged; what it lacks can be why these runs show " + strings.Join(broken, ", ")
	case r.damaged:
		return "contract: not judged, since the export is damaged"
	case len(broken) > 0:
		return "contract: broken: " + strings.Join(broken, ", ")
	}
	return "contract: held" + r.subject.unjudged()
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
	name := propertyName(v.Property)
	a.printf("%s  %s  (%s)\n", a.style.bad("VIOLATED"), a.style.title(name), v.Class)
	if v.BlamesDurosim() {
		a.printf("  blame     %s\n", cluster.SelfCheck)
	}
	if p, ok := properties.ByID(v.Property); ok {
		a.printf("  rule      %s\n", p.Statement)
	} else if v.Expectation != "" {
		a.printf("  rule      %s\n", v.Expectation)
	}
	a.printf("  where     seed %d, step %s, virtual time %s\n", v.Seed, grouped(v.Step), pretty.Duration(v.VirtualMs))
	a.printEvidence(v.Violation)
}

// printPlace prints a violation's place and evidence, for a run that has no seed of its own.
func (a *app) printPlace(v cluster.Violation) {
	a.printf("  where     step %s, virtual time %s\n", grouped(v.Step), pretty.Duration(v.VirtualMs))
	a.printEvidence(v)
}

func (a *app) printEvidence(v cluster.Violation) {
	for _, f := range [][2]string{{"node", v.Node}, {"instance", v.Instance}, {"work item", v.WorkItem}} {
		if f[1] != "" {
			a.printf("  %-9s %s\n", f[0], f[1])
		}
	}
	a.printf("  evidence  %s\n", strings.ReplaceAll(strings.TrimSpace(v.Message), "\n", "\n            "))
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

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.stdout, format, args...) }

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

func firstLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	if len(lines) > n {
		lines = append(lines[:n:n], "...")
	}
	return strings.Join(lines, "\n")
}

// statuses lists the number of instances with each status, sorted by status.
func statuses(all []cluster.FinalState) string {
	counts := map[string]uint64{}
	var kinds []string
	for _, o := range all {
		kind := strings.ToLower(string(o.Status))
		if kind == "" {
			kind = "never begun"
		}
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	slices.Sort(kinds)
	for i, k := range kinds {
		kinds[i] = grouped(counts[k]) + " " + k
	}
	return strings.Join(kinds, ", ")
}

// printTable prints a campaign's totals.
func (a *app) printTable(r *report) {
	sum := r.sum
	which := "seeds " + r.seeds.String()
	if r.shard != (shard{}) {
		which += fmt.Sprintf(", part %d of %d", r.shard.index, r.shard.of)
	}
	if sum.Seeds < sum.Total {
		which += fmt.Sprintf("; stopped early, of %s", grouped(sum.Total))
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	row := func(label, value, note string) {
		line := a.style.quiet(label) + "\t" + value
		if note != "" {
			line += "\t" + note
		}
		fmt.Fprintln(t, line)
	}
	row("scenario", r.subject.scenario.Name, strings.Join(r.subject.options(), " "))
	row("seeds", grouped(sum.Seeds), which)
	if r.second > 0 {
		row("second judge", fmt.Sprintf("%s of %s seeds", grouped(r.second), grouped(sum.Seeds)), "")
	}
	row("passed", grouped(sum.Passed), failedNote(sum.Seeds, sum.Seeds-sum.Passed))
	rate := func(n uint64, what string) string {
		if r.wall == 0 {
			return ""
		}
		return perSecond(n, r.wall) + what
	}
	row("steps", grouped(sum.Steps), rate(sum.Steps, " steps/s"))
	row("turns", grouped(sum.Turns), rate(sum.Turns, " turns/s"))
	row("virtual time", pretty.Duration(sum.VirtualMs), "")
	if r.wall > 0 {
		row("wall time", fmt.Sprintf("%.2fs", r.wall.Seconds()), rate(sum.Seeds, " seeds/s"))
	}
	row("coverage", fmt.Sprintf("%d reached", r.reached()), coverageNote(r.unreached))
	row("digest", sum.Digest.String(), "")
	flushTable(t)
	a.printf("\n%s\n%s\n", r.contract(), r.sum.Plan())
	if len(sum.Properties) > 0 {
		a.printf("\n")
		t = tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
		fmt.Fprintln(t, "violated\tclass\tseeds\tviolations\tfirst seed")
		for _, p := range sum.Properties {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\n", ruleName(p.First.Violation), p.Class, grouped(p.Seeds), grouped(p.Violations), p.FirstSeed)
		}
		flushTable(t)
	}
}

// printUnreached prints the coverage points that the campaign did not reach.
func (a *app) printUnreached(r *report) {
	if len(r.unreached) > 0 {
		a.printf("\nnot reached%s:\n%s", required(r.missed), columns(r.unreached, a.width))
	}
}

func failedNote(seeds, n uint64) string {
	if seeds == 0 {
		return "no run was finished"
	}
	if n == 0 {
		return "everything held"
	}
	return grouped(n) + " failed"
}

func coverageNote(unreached []string) string {
	if len(unreached) == 0 {
		return "nothing left out"
	}
	return fmt.Sprintf("%d not", len(unreached))
}

func required(missed []string) string {
	if len(missed) == 0 {
		return ", and not required of this campaign"
	}
	return ""
}

// flushTable flushes a table to the buffered output, which reports write errors at the end.
func flushTable(t *tabwriter.Writer) { _ = t.Flush() }

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

// cells returns the coverage points that make up the matrix of faults and features.
func cells() []string {
	var points []string
	for _, k := range faults.Kinds() {
		for _, f := range properties.Features() {
			points = append(points, properties.Met(string(k.Kind), f.Name))
		}
	}
	return points
}

// reached returns the number of coverage points reached. It does not count the cells of the matrix, which is printed
// separately.
func (r *report) reached() int {
	n := 0
	for _, p := range r.sum.Coverage {
		if !properties.IsMet(p.Name) {
			n++
		}
	}
	return n
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
			count := r.sum.Count(properties.Met(string(k.Kind), f.Name))
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
	for i := range properties.Features() {
		a.printf("%5c", 'a'+i)
	}
	a.printf("\n%s", rows.String())
	var legend []string
	for i, f := range properties.Features() {
		legend = append(legend, fmt.Sprintf("%c %s", 'a'+i, f.Name))
	}
	a.printf("%s", columns(legend, a.width))
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

// markdown formats a campaign for a job summary. It shows the verdicts, the violations with the commands that reproduce
// them, and how the work ended.
func (r *report) markdown() string {
	var b strings.Builder
	mark := "✅"
	if r.status != exitOK {
		mark = "❌"
	}
	fmt.Fprintf(&b, "### %s %s: %s seeds, %s passed\n\n%s\n\n%s\n", mark, r.subject.scenario.Name, grouped(r.sum.Seeds), grouped(r.sum.Passed), r.contract(), r.sum.Plan())
	if len(r.sum.Properties) > 0 {
		b.WriteString("\n| violated | class | seeds | first seed | see it |\n|---|---|---|---|---|\n")
		for _, p := range r.sum.Properties {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | `%s` |\n", cellText(ruleName(p.First.Violation)), p.Class, grouped(p.Seeds), p.FirstSeed, r.subject.repro(p.FirstSeed))
		}
	}
	for _, k := range r.findings {
		fmt.Fprintf(&b, "\n- %s: %s, since %s: `%s`\n", k.State, cellText(k.Property), k.First.Format("2006-01-02"), k.Command)
	}
	fmt.Fprintf(&b, "\n<details><summary>fate of the work</summary>\n\n```text\n%s```\n\n</details>\n\n", r.sum.Fate.Text(false))
	return b.String()
}

// cellText escapes text for use in a table cell.
func cellText(s string) string { return strings.ReplaceAll(oneLine(s), "|", "\\|") }

// appendMarkdown appends the summary to the named file, such as the one in GITHUB_STEP_SUMMARY.
func (r *report) appendMarkdown(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(r.markdown())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// annotate prints a GitHub workflow command for each violated property. GitHub shows it as an annotation.
func (a *app) annotate(r *report) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	title := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range r.sum.Properties {
		text := p.First.Message + "\n" + r.subject.repro(p.FirstSeed)
		fmt.Fprintf(a.stderr, "::error title=%s::%s\n", title.Replace(fmt.Sprintf("%s, seed %d", ruleName(p.First.Violation), p.FirstSeed)), data.Replace(text))
	}
	for _, e := range r.sum.Internal {
		fmt.Fprintf(a.stderr, "::error title=internal error%%2C seed %d::%s\n", e.Seed, data.Replace(e.Text))
	}
}
