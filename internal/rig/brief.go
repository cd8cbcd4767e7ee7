package rig

import (
	"regexp"
	"strings"
)

// Brief shortens the findings in printed outputs, which are their indented lines. The first finding with a certain
// wording is left whole; of others, with other values, only the beginning is kept.
type Brief map[string]bool // the wordings that have been seen; only used for lookups

// briefLength is how much of a finding is kept, in bytes.
const briefLength = 70

// value matches what differs between two findings with the same wording.
var value = regexp.MustCompile(`\{.*?\}|"[^"]*"|\[[^\]]*\]|\S*\d\S*|\S*~\S*`)

// Of returns the output with its findings shortened.
func (b Brief) Of(output string) string {
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		if len(line) <= briefLength || !strings.HasPrefix(line, " ") {
			continue
		}
		wording := value.ReplaceAllString(line, "")
		if b[wording] {
			lines[i] = strings.ToValidUTF8(line[:briefLength], "") + "..."
		}
		b[wording] = true
	}
	return strings.Join(lines, "\n")
}
