package scenario

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// token is a word in a line.
type token struct {
	// text is the word, without quotes.
	text string
	// quoted words are values and never keywords.
	quoted bool
	// colon means that the word ended in a colon outside quotes. The colon is part of text.
	colon bool
}

func (t token) is(keyword string) bool { return !t.quoted && t.text == keyword }

var errOpenString = errors.New(`unterminated string: expected a closing " on the same line, with \" for a quote inside`)

// split splits a line into words. Words are separated by spaces and tabs, a "…" anywhere in a word is a Go string,
// which may contain spaces, and a word that begins with # begins a comment.
func split(line string) (words []token, comment string, err error) {
	for {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" {
			return words, "", nil
		}
		if line[0] == '#' {
			return words, strings.TrimSpace(line[1:]), nil
		}
		var t token
		for line != "" && line[0] != ' ' && line[0] != '\t' && line[0] != '\r' {
			if line[0] == '"' {
				quoted, err := strconv.QuotedPrefix(line)
				if err != nil {
					return nil, "", errOpenString
				}
				text, err := strconv.Unquote(quoted)
				if err != nil {
					return nil, "", errOpenString
				}
				t.text += text
				t.quoted, t.colon = true, false
				line = line[len(quoted):]
				continue
			}
			end := strings.IndexAny(line, " \t\r\"")
			if end < 0 {
				end = len(line)
			}
			t.text += line[:end]
			t.colon = line[end-1] == ':'
			line = line[end:]
		}
		words = append(words, t)
	}
}

// quote returns s in the form that split parses: unquoted if that is unambiguous, otherwise quoted.
func quote(s string) string {
	if s == "" || s[0] == '#' {
		return strconv.Quote(s)
	}
	unclear := func(r rune) bool {
		return r == '"' || r == '\\' || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsGraphic(r)
	}
	if strings.ContainsFunc(s, unclear) {
		return strconv.Quote(s)
	}
	return s
}

// quoteName is like quote, for a value in a position where one of the keywords could also appear.
func quoteName(s string, keywords ...string) string {
	if slices.Contains(keywords, s) {
		return strconv.Quote(s)
	}
	return quote(s)
}

// quoteText returns a text for use at the end of a line. It is bare if its words joined by single spaces equal the
// text.
func quoteText(s string) string {
	if slices.ContainsFunc(strings.Split(s, " "), func(w string) bool { return quote(w) != w }) {
		return strconv.Quote(s)
	}
	return s
}
