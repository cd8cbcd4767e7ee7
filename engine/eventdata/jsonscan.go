package eventdata

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of values. The contract's own values nest at most 6 deep.
const maxDepth = 128

// scanner scans JSON text. Each method starts at the first byte of an item and stops just after its last byte.
type scanner struct {
	text string
	at   int
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("at byte %d: %s", s.at, fmt.Sprintf(format, args...))
}

// peek returns the next byte, or 0 at the end of the text. Valid JSON contains no 0 byte, so callers reject a 0 in
// either case.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) unexpected(want string) error {
	if s.at >= len(s.text) {
		return s.errorf("the text ends; want %s", want)
	}
	return s.errorf("got %q; want %s", s.text[s.at], want)
}

func (s *scanner) take(c byte) error {
	if s.peek() != c {
		return s.unexpected(strconv.QuoteRune(rune(c)))
	}
	s.at++
	return nil
}

// open consumes an opening bracket and reports whether the object or array has any elements.
func (s *scanner) open(bracket byte) (bool, error) {
	if err := s.take(bracket); err != nil {
		return false, err
	}
	s.space()
	if s.peek() == bracket+2 { // in ASCII, the closing bracket
		s.at++
		return false, nil
	}
	return true, nil
}

// more consumes the comma or closing bracket after an element, and reports whether it was a comma.
func (s *scanner) more(bracket byte) (bool, error) {
	s.space()
	switch s.peek() {
	case ',':
		s.at++
		return true, nil
	case bracket:
		s.at++
		return false, nil
	}
	return false, s.unexpected(fmt.Sprintf("',' or %q", bracket))
}

// member consumes a field: its quoted name and its value.
func (s *scanner) member(depth int) (name, value string, err error) {
	s.space()
	from := s.at
	if err := s.string(); err != nil {
		return "", "", err
	}
	name = s.text[from:s.at]
	s.space()
	if err := s.take(':'); err != nil {
		return "", "", err
	}
	s.space()
	from = s.at
	err = s.value(depth)
	return name, s.text[from:s.at], err
}

func (s *scanner) object(depth int) error {
	more, err := s.open('{')
	for more && err == nil {
		if _, _, err = s.member(depth + 1); err == nil {
			more, err = s.more('}')
		}
	}
	return err
}

func (s *scanner) array(depth int) error {
	more, err := s.open('[')
	for more && err == nil {
		s.space()
		if err = s.value(depth + 1); err == nil {
			more, err = s.more(']')
		}
	}
	return err
}

func (s *scanner) value(depth int) error {
	if depth > maxDepth {
		return s.errorf("nested more than %d deep", maxDepth)
	}
	switch c := s.peek(); {
	case c == '"':
		return s.string()
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if strings.HasPrefix(s.text[s.at:], word) {
			s.at += len(word)
			return nil
		}
	}
	return s.unexpected("a value")
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.at++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		return s.digits()
	}
	return nil
}

func (s *scanner) digits() error {
	from := s.at
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.at++
	}
	if s.at == from {
		return s.unexpected("a digit")
	}
	return nil
}

func (s *scanner) string() error {
	if s.peek() != '"' {
		return s.unexpected("a string")
	}
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c < ' ':
			return s.errorf("control character %q in a string", c)
		case c == '\\':
			s.at++
			switch c := s.peek(); c {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := hex4(s.text[s.at+1:]); !ok {
					return s.errorf(`\u without four hex digits`)
				}
				s.at += 4
			default:
				return s.unexpected("an escape")
			}
		}
	}
	return s.unexpected("the end of a string")
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	r, err := strconv.ParseUint(s[:4], 16, 16)
	return rune(r), err == nil
}

// Unquote decodes a valid JSON string. Like encoding/json, it replaces unpaired surrogates and bytes that are not valid
// UTF-8 with U+FFFD.
func Unquote(quoted string) string {
	s := quoted[1 : len(quoted)-1]
	if strings.IndexByte(s, '\\') >= 0 {
		text, err := strconv.Unquote(quoted)
		if err != nil { // Go has neither \/ nor surrogates
			_ = json.Unmarshal([]byte(quoted), &text) // cannot fail: the text is valid
		}
		return text
	}
	return validUTF8(s)
}

// validUTF8 replaces each byte that is not valid UTF-8 with U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
