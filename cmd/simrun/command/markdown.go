package command

import (
	"fmt"
	"os"
	"strings"
)

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

// tellCI writes the job summary and the annotations for a CI job.
func (a *app) tellCI(r *report, markdown string, annotate bool) error {
	if annotate {
		a.annotate(r)
	}
	if markdown == "" {
		return nil
	}
	return r.appendMarkdown(markdown)
}
