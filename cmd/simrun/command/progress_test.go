package command

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBarFits checks that the bar takes up exactly one line, whatever the width of the terminal.
func TestBarFits(t *testing.T) {
	for _, width := range []int{40, 60, 80, 100, 140} {
		var out bytes.Buffer
		p := &progress{bar: newBar(&out, "rolling-upgrade", 1_000_000, width, 0), what: "rolling-upgrade"}
		for _, done := range []uint64{1, 500_000, 999_999} {
			p.show(done, done/200)
		}
		if !strings.Contains(out.String(), "rolling-upgrade, 4999 failed") {
			t.Errorf("%d columns: no number of failures: %q", width, out.String())
		}
		for line := range strings.SplitSeq(out.String(), "\r") {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " ")); n > width {
				t.Errorf("%d columns: %d are written: %q", width, n, line)
			}
		}
	}
}
