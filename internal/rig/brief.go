package rig

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// Brief shortens printed outputs in which a line, a place, is followed by what is found there, indented deeper. The first
// finding with a certain wording is left whole, and begins with the wording's mark; of others, with other values, only
// the mark is left, behind the place. Places in a row with findings of the same wording share a line.
type Brief map[string]bool // the wordings that have been seen; only used for lookups

// value matches what differs between two findings with the same wording.
var value = regexp.MustCompile(`\{.*?\}|"[^"]*"|\[[^\]]*\]|\S*\d\S*|\S*~\S*`)

// Of returns the output with its findings shortened.
func (b Brief) Of(output string) string {
	var out []string
	var before []string // the marks of the last place's findings
	place := 0          // the line in out of the first of the places that have them
	lines := strings.Split(output, "\n")
	for i := 0; i < len(lines); {
		findings := findingsOf(lines, i)
		var marks, known, whole []string
		for _, line := range findings {
			wording := strings.TrimSpace(value.ReplaceAllString(line, ""))
			marks = append(marks, mark(wording))
			if b[wording] {
				known = append(known, mark(wording))
			} else {
				whole = append(whole, strings.Repeat(" ", indent(line))+mark(wording)+" "+strings.TrimLeft(line, " "))
			}
			b[wording] = true
		}
		switch {
		case len(marks) > 0 && slices.Equal(marks, before):
			out[place] = insert(out[place], lines[i])
		default:
			place, before = len(out), marks
			out = append(append(out, strings.Join(append([]string{lines[i]}, known...), " ")), whole...)
		}
		i += 1 + len(findings)
	}
	return strings.Join(out, "\n")
}

// mark returns a short name of a wording.
func mark(wording string) string {
	h := fnv.New32a()
	h.Write([]byte(wording)) // never fails
	return fmt.Sprintf("=%04x", h.Sum32()&0xffff)
}

// insert adds a place to a line of places, before their marks.
func insert(places, place string) string {
	text, marks, _ := strings.Cut(places, " =")
	if marks != "" {
		marks = " =" + marks
	}
	return text + ", " + strings.TrimLeft(place, " ") + marks
}

// findingsOf returns the lines behind a place if they are all indented alike and deeper, and nothing is below them.
func findingsOf(lines []string, place int) []string {
	end := place + 1
	for end < len(lines) && indent(lines[end]) > indent(lines[place]) {
		if indent(lines[end]) != indent(lines[place+1]) {
			return nil
		}
		end++
	}
	return lines[place+1 : end]
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
