package rig

import (
	"regexp"
	"slices"
	"strings"
)

// Brief shortens the findings in printed outputs, which are their indented lines. The first finding with a certain
// wording is left whole; of others, with other values, only the beginning is kept. Places in a row with findings of the
// same wording share a line, and show the first one's.
type Brief map[string]bool // the wordings that have been seen; only used for lookups

// briefLength is how much of a finding is kept, in bytes.
const briefLength = 40

// value matches what differs between two findings with the same wording.
var value = regexp.MustCompile(`\{.*?\}|"[^"]*"|\[[^\]]*\]|\S*\d\S*|\S*~\S*`)

// Of returns the output with its findings shortened.
func (b Brief) Of(output string) string {
	lines := together(strings.Split(output, "\n"), func(a, b string) bool { return wordingOf(a) == wordingOf(b) })
	for i, line := range lines {
		if len(line) <= briefLength || !strings.HasPrefix(line, " ") {
			continue
		}
		wording := wordingOf(line)
		if b[wording] {
			lines[i] = strings.ToValidUTF8(line[:briefLength], "") + "..."
		}
		b[wording] = true
	}
	return strings.Join(together(lines, func(a, b string) bool { return a == b }), "\n")
}

func wordingOf(line string) string { return value.ReplaceAllString(line, "") }

// together joins places in a row with the same findings. A finding is indented deeper than its place.
func together(lines []string, same func(a, b string) bool) (out []string) {
	var place int       // the line in out with the last place
	var before []string // its findings
	for i := 0; i < len(lines); {
		found := i + 1
		for found < len(lines) && indent(lines[found]) > indent(lines[i]) {
			found++
		}
		findings := lines[i+1 : found]
		if len(findings) > 0 && slices.EqualFunc(findings, before, same) && indent(lines[i]) == indent(out[place]) {
			out[place] += ", " + strings.TrimLeft(lines[i], " ")
		} else {
			place, before = len(out), findings
			out = append(append(out, lines[i]), findings...)
		}
		i = found
	}
	return out
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
