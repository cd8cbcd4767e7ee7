package commandline

import (
	"errors"
	"strings"
)

// Split splits a command line into words like a POSIX shell: at spaces outside quotes, where quoting means '…', "…" and
// \. It performs no expansion. Split is the inverse of Join, except for words with
// control characters.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun, quote, escaped := false, rune(0), false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
			word.WriteRune(r)
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			begun = false
			word.Reset()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("unterminated quotation")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
