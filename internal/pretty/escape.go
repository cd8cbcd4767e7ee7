package pretty

import (
	"strconv"
	"strings"
	"unicode"
)

// Escaped returns text with its control characters as Go escapes, except in what is kept. A terminal would obey them.
func Escaped(text string, kept ...string) string {
	var pairs []string
	for _, k := range kept {
		pairs = append(pairs, k, k)
	}
	for _, r := range text {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			quoted := strconv.QuoteRune(r)
			pairs = append(pairs, string(r), quoted[1:len(quoted)-1])
		}
	}
	if len(pairs) == 2*len(kept) {
		return text
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
