package safety

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// plainJSON reads plain JSON as strictly as encoding/json, which takes five times as long and allocates each value.
// It shares nothing with the codecs whose bytes it reads. A plainJSON is used again: values are valid until the next read.
type plainJSON struct {
	data   string
	at     int
	depth  int
	values []plainValue // by index from 1
}

// plainValue is a value, and its name if it is a member of an object. Numbers are kept as they are written.
type plainValue struct {
	kind plainKind
	name string
	text string
	// first is the index of the first element or member, next that of the next one beside this value; 0 is none.
	first, next int
}

type plainKind uint8

const (
	plainNull plainKind = iota
	plainBool
	plainNumber
	plainText
	plainList
	plainObject
)

var errPlain = errors.New("not JSON")

// mostNested is the number of lists and objects that may lie in each other.
const mostNested = 64

// read returns the index of the value that data is.
func (p *plainJSON) read(data []byte) (int, error) {
	p.data, p.at, p.depth, p.values = string(data), 0, 0, append(p.values[:0], plainValue{})
	no, err := p.value("")
	if p.peek(); err == nil && p.at < len(p.data) {
		err = errPlain
	}
	return no, err
}

// member returns the member of an object with a name, nil if it has none.
func (p *plainJSON) member(object int, name string) *plainValue {
	for i := p.values[object].first; i != 0; i = p.values[i].next {
		if p.values[i].name == name {
			return &p.values[i]
		}
	}
	return nil
}

// count returns the number of elements or members of a value.
func (p *plainJSON) count(value int) (n int) {
	for i := p.values[value].first; i != 0; i = p.values[i].next {
		n++
	}
	return n
}

func (p *plainJSON) value(name string) (int, error) {
	no := len(p.values)
	p.values = append(p.values, plainValue{name: name})
	var err error
	kind, text := plainNull, ""
	switch c := p.peek(); {
	case c == '"':
		kind = plainText
		text, err = p.string()
	case c == '{' || c == '[':
		if kind = plainList; c == '{' {
			kind = plainObject
		}
		err = p.inside(no, kind)
	case c == '-' || c >= '0' && c <= '9':
		kind = plainNumber
		text, err = p.number()
	case p.takes("true"):
		kind, text = plainBool, "true"
	case p.takes("false"):
		kind, text = plainBool, "false"
	case !p.takes("null"):
		err = errPlain
	}
	p.values[no].kind, p.values[no].text = kind, text
	return no, err
}

// inside reads the elements of a list or the members of an object, with the brackets.
func (p *plainJSON) inside(parent int, kind plainKind) error {
	end := byte(']')
	if kind == plainObject {
		end = '}'
	}
	if p.depth++; p.depth > mostNested {
		return errPlain
	}
	p.at++
	for last := 0; ; {
		if c := p.peek(); c == end && last == 0 {
			break
		}
		name := ""
		if kind == plainObject {
			if p.peek() != '"' {
				return errPlain
			}
			var err error
			if name, err = p.string(); err != nil || p.peek() != ':' {
				return errPlain
			}
			p.at++
		}
		no, err := p.value(name)
		if err != nil {
			return err
		}
		if last == 0 {
			p.values[parent].first = no
		} else {
			p.values[last].next = no
		}
		last = no
		if c := p.peek(); c == end {
			break
		} else if c != ',' {
			return errPlain
		}
		p.at++
	}
	p.at++
	p.depth--
	return nil
}

// peek returns the next byte that is not white space, 0 at the end.
func (p *plainJSON) peek() byte {
	for ; p.at < len(p.data); p.at++ {
		if c := p.data[p.at]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

func (p *plainJSON) takes(word string) bool {
	if !strings.HasPrefix(p.data[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

// string reads a text. One with escapes, or with bytes that are not UTF-8, is read by encoding/json.
func (p *plainJSON) string() (string, error) {
	from := p.at
	escaped := false
	for p.at++; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '"':
			p.at++
			text := p.data[from+1 : p.at-1]
			if !escaped && utf8.ValidString(text) {
				return text, nil
			}
			return decodedText(p.data[from:p.at])
		case c < ' ':
			return "", errPlain
		case c == '\\':
			escaped = true
			p.at++
		}
	}
	return "", errPlain
}

// decodedText is a function of its own so that only these texts are allocated.
func decodedText(quoted string) (text string, err error) {
	err = json.Unmarshal([]byte(quoted), &text)
	return text, err
}

func (p *plainJSON) number() (string, error) {
	from := p.at
	for p.at < len(p.data) && strings.IndexByte("+-.0123456789Ee", p.data[p.at]) >= 0 {
		p.at++
	}
	text := p.data[from:p.at]
	if !json.Valid([]byte(text)) {
		return "", errPlain
	}
	return text, nil
}
