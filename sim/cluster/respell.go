package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// respell returns an event's JSON as another writer might spell it: with white space, unknown fields, fields in a
// different order, and characters escaped in different ways.
func respell(data []byte) []byte {
	s := speller{from: json.NewDecoder(bytes.NewReader(data))}
	s.from.UseNumber()
	return []byte("\r\n" + s.value(true) + " \t\n")
}

// unknownFields are fields that a later release's events might have: more than all that are known.
var unknownFields = func() string {
	var many strings.Builder
	for i := range 20 {
		fmt.Fprintf(&many, "\"later-%d\" : null , ", i)
	}
	return many.String() + `"\u0078-of-later" : [ -0.5e+3 , 1.25E-2,0 , -7 , true,false , null, { } , [ ] , "]}\"\\", {"a": { "b":[ [ ]] }} ]`
}()

// speller rewrites a JSON text with a different spelling.
type speller struct {
	from    *json.Decoder
	strings int
}

// value respells the next value and adds unknown fields to the outermost object.
func (s *speller) value(outermost bool) string {
	switch t := s.token().(type) {
	case json.Delim:
		return s.list(t, outermost)
	case string:
		return s.text(t)
	default:
		return fmt.Sprint(t)
	case nil:
		return "null"
	}
}

func (s *speller) token() json.Token {
	t, err := s.from.Token()
	if err != nil {
		panic(fmt.Sprintf("cluster: an event's encoding is not JSON: %v", err))
	}
	return t
}

// list respells an array, or an object with its members in reverse order.
func (s *speller) list(open json.Delim, outermost bool) string {
	var parts []string
	for s.from.More() {
		part := s.value(false)
		if open == '{' {
			part += "\t:\r\n " + s.value(false)
			parts = append([]string{part}, parts...)
			continue
		}
		parts = append(parts, part)
	}
	s.token()
	if outermost {
		parts = append([]string{unknownFields}, parts...)
	}
	if open == '[' {
		return "[ " + strings.Join(parts, " , ") + "\n]"
	}
	return "{ " + strings.Join(parts, "\n,\t") + " }"
}

// short applies the two-character escapes.
var short = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "/", `\/`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\u0000`, "\x1f", `\u001F`)

// text spells a string: in turn with every character escaped in lower-case hex, in upper-case hex, and with only the
// short escapes.
func (s *speller) text(t string) string {
	s.strings++
	form := [...]string{`\u%04x`, `\u%04X`, ""}[s.strings%3]
	if form == "" {
		return `"` + short.Replace(t) + `"`
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(t)) {
		fmt.Fprintf(&b, form, unit)
	}
	return `"` + b.String() + `"`
}
