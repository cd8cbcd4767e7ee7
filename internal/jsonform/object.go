package jsonform

import (
	"errors"
	"fmt"
	"strconv"
)

// field is a name with the JSON text of its value. The text is valid JSON, but not decoded.
type field struct{ name, value string }

// Object is a scanned JSON object with access to its fields by name. A field that cannot be read counts as zero. Err
// keeps the first error, which the caller tests once at the end.
//
// Field texts are substrings of the scanned text, and so are decoded strings without escapes.
type Object struct {
	first [15]field // enough for a complete OrchestrationStarted; an array can stay on the stack
	count int
	rest  []field // the fields beyond first
	Err   error
}

// Scan scans a text that contains exactly one object.
func (o *Object) Scan(text string) {
	s := scanner{text: text}
	s.space()
	more, err := s.open('{')
	for more && err == nil {
		var name, value string
		if name, value, err = s.member(1); err == nil {
			o.add(field{Unquote(name), value})
			more, err = s.more('}')
		}
	}
	if err == nil {
		s.space()
		if s.at < len(text) {
			err = s.errorf("text after the object")
		}
	}
	o.Err = err
}

func (o *Object) add(f field) {
	if o.count < len(o.first) {
		o.first[o.count] = f
	} else {
		o.rest = append(o.rest, f)
	}
	o.count++
}

// Names returns the names of the fields in order.
func (o *Object) Names() []string {
	names := make([]string, o.count)
	for i := range names {
		names[i] = o.at(i).name
	}
	return names
}

func (o *Object) at(i int) *field {
	if i < len(o.first) {
		return &o.first[i]
	}
	return &o.rest[i-len(o.first)]
}

// ScanTagged scans an object with exactly one field.
func ScanTagged(text string) (tag, value string, err error) {
	var o Object
	o.Scan(text)
	if o.Err == nil && o.count != 1 {
		o.Err = fmt.Errorf("%d fields; want one that names the kind", o.count)
	}
	return o.first[0].name, o.first[0].value, o.Err
}

// Fail records an error about a field if it is the first error.
func (o *Object) Fail(name string, err error) {
	if o.Err == nil {
		o.Err = fmt.Errorf("field %q: %w", name, err)
	}
}

// Get returns the text of a field's value, or "" if the field is absent. An optional field that is null counts as
// absent. A missing required field is an error, and so is a duplicate field.
func (o *Object) Get(name string, needed bool) string {
	value := ""
	for i := range o.count {
		if f := o.at(i); f.name == name {
			if value != "" {
				o.Fail(name, errors.New("duplicate"))
				return ""
			}
			value = f.value
		}
	}
	if needed && value == "" {
		o.Fail(name, errors.New("missing"))
	}
	if !needed && value == "null" {
		return ""
	}
	return value
}

// Text, OptText, Number, Number32 and OptNumber return the value of a field. A missing field is an error, except for
// the Opt methods, which read a missing field or null as zero.
func (o *Object) Text(name string) string      { return o.ToText(name, o.Get(name, true)) }
func (o *Object) OptText(name string) string   { return o.ToText(name, o.Get(name, false)) }
func (o *Object) Number(name string) uint64    { return o.toNumber(name, o.Get(name, true), 64) }
func (o *Object) Number32(name string) uint32  { return uint32(o.toNumber(name, o.Get(name, true), 32)) }
func (o *Object) OptNumber(name string) uint64 { return o.toNumber(name, o.Get(name, false), 64) }

// TextPointer returns the value of a field, nil if it is null or absent.
func (o *Object) TextPointer(name string) *string {
	value := o.Get(name, false)
	if value == "" {
		return nil
	}
	s := o.ToText(name, value)
	return &s
}

// Boolean returns the value of a required field.
func (o *Object) Boolean(name string) bool {
	value := o.Get(name, true)
	if value != "" && value != "true" && value != "false" {
		o.Fail(name, wrongType("true or false", value))
	}
	return value == "true"
}

// ToText decodes a value as text; name is the field's name for errors.
func (o *Object) ToText(name, value string) string {
	if value == "" {
		return ""
	}
	if value[0] != '"' {
		o.Fail(name, wrongType("a string", value))
		return ""
	}
	return Unquote(value)
}

func (o *Object) toNumber(name, value string, bits int) uint64 {
	if value == "" {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, bits)
	if err != nil {
		o.Fail(name, wrongType(fmt.Sprintf("a whole number of %d bits", bits), value))
		return 0
	}
	return n
}

func wrongType(want, value string) error { return fmt.Errorf("want %s, got %s", want, Describe(value)) }

// Describe formats a value for an error: a number or a word verbatim, any other value as its type.
func Describe(value string) string {
	switch value[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	if len(value) > 40 {
		return "a long number"
	}
	return value
}

// ScanArray splits the text of a valid array into its elements.
func ScanArray(value string) ([]string, error) {
	if value[0] != '[' {
		return nil, wrongType("an array", value)
	}
	var out []string
	s := scanner{text: value}
	more, err := s.open('[')
	for more && err == nil {
		s.space()
		from := s.at
		if err = s.value(1); err == nil {
			out = append(out, value[from:s.at])
			more, err = s.more(']')
		}
	}
	return out, err
}
