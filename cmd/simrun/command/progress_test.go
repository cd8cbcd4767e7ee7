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
		p := &progress{w: &out, what: "rolling-upgrade", width: width}
		for _, done := range []uint64{1, 500_000, 999_999} {
			p.show(done, 1_000_000, done/200)
		}
		if !strings.Contains(out.String(), "99%, 4999 failed") {
			t.Errorf("%d columns: no number of failures: %q", width, out.String())
		}
		for line := range strings.SplitSeq(out.String(), "\r") {
			if n := utf8.RuneCountInString(strings.TrimPrefix(line, "\x1b[K")); n > width {
				t.Errorf("%d columns: %d are written: %q", width, n, line)
			}
		}
	}
}
