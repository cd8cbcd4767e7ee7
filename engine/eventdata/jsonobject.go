package eventdata

import (
	"errors"
	"fmt"
	"strconv"
)

// field is a name and the undecoded JSON text of its value. The text is valid JSON.
type field struct{ name, value string }

// Object is a scanned JSON object whose fields are accessed by name. A field that cannot be read counts as zero. Err
// keeps the first error, so callers need to check it only once, at the end.
//
// A field's text is a substring of the scanned text. So is a decoded string without escapes.
type Object struct {
	first [15]field // room for a complete OrchestrationStarted; as an array, it can stay on the stack
	count int
	rest  []field // fields that do not fit into first
	Err   error
}

// Scan scans text, which must consist of exactly one object.
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

// Names returns the field names in order.
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

// ScanTagged scans an object with exactly one field and returns the field's name and value.
func ScanTagged(text string) (tag, value string, err error) {
	var o Object
	o.Scan(text)
	if o.Err == nil && o.count != 1 {
		o.Err = fmt.Errorf("%d fields; want one that names the kind", o.count)
	}
	return o.first[0].name, o.first[0].value, o.Err
}

// Fail records an error about field name, unless an error has already been recorded.
func (o *Object) Fail(name string, err error) {
	if o.Err == nil {
		o.Err = fmt.Errorf("field %q: %w", name, err)
	}
}

// Get returns the text of field name's value, or "" if the field is absent. For an optional field, a null value counts
// as absent. A missing required field is an error, and so is a duplicate field.
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

// Text, OptText, Number, Number32 and OptNumber return a field's value. A missing field is an error, except for the Opt
// methods, which treat a missing or null field as zero.
func (o *Object) Text(name string) string      { return o.ToText(name, o.Get(name, true)) }
func (o *Object) OptText(name string) string   { return o.ToText(name, o.Get(name, false)) }
func (o *Object) Number(name string) uint64    { return o.toNumber(name, o.Get(name, true), 64) }
func (o *Object) Number32(name string) uint32  { return uint32(o.toNumber(name, o.Get(name, true), 32)) }
func (o *Object) OptNumber(name string) uint64 { return o.toNumber(name, o.Get(name, false), 64) }

// TextPointer returns a field's value, or nil if the field is null or absent.
func (o *Object) TextPointer(name string) *string {
	value := o.Get(name, false)
	if value == "" {
		return nil
	}
	s := o.ToText(name, value)
	return &s
}

// Boolean returns the value of a required boolean field.
func (o *Object) Boolean(name string) bool {
	value := o.Get(name, true)
	if value != "" && value != "true" && value != "false" {
		o.Fail(name, wrongType("true or false", value))
	}
	return value == "true"
}

// ToText decodes value as a string. name is the field's name, for error messages.
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

// Describe formats a value for an error message. It shows a number or a literal verbatim, and only the type of any
// other value.
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
