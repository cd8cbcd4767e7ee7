package pretty

import (
	"fmt"
	"strings"
)

// Hint returns "; did you mean X?" for the name closest to word, or "" if no name is close. If several names are
// equally close, it picks the first.
func Hint(word string, names []string) string {
	const longest = 64 // longer words are unlikely to be typos and slow to compare
	best, least := "", max(len(word)/3, 1)
	for _, name := range names {
		if len(word) > longest || len(name) > longest {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d <= least && d < len(word) && (best == "" || d < least) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance returns the number of insertions, deletions, substitutions and swaps of adjacent letters needed to turn a
// into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
