package engine

import (
	"errors"
	"fmt"
	"strconv"
)

// field is a name with the JSON text of its value, which is checked but not interpreted.
type field struct{ name, value string }

// object is a scanned JSON object whose fields are read by name. A field that cannot be read counts as zero; err keeps the
// first error, which the caller tests once at the end.
//
// Field texts are substrings of the scanned text. So are the strings read from it, unless they contain escapes.
type object struct {
	first [15]field // the fields of a complete OrchestrationStarted; an array can stay on the stack
	count int
	rest  []field // the fields beyond first
	err   error
}

// scan scans a text that holds exactly one object.
func (o *object) scan(text string) {
	s := scanner{text: text}
	s.space()
	more, err := s.open('{')
	for more && err == nil {
		var name, value string
		if name, value, err = s.member(1); err == nil {
			o.add(field{unquote(name), value})
			more, err = s.more('}')
		}
	}
	if err == nil {
		s.space()
		if s.at < len(text) {
			err = s.errorf("text after the object")
		}
	}
	o.err = err
}

func (o *object) add(f field) {
	if o.count < len(o.first) {
		o.first[o.count] = f
	} else {
		o.rest = append(o.rest, f)
	}
	o.count++
}

func (o *object) at(i int) *field {
	if i < len(o.first) {
		return &o.first[i]
	}
	return &o.rest[i-len(o.first)]
}

// scanTagged scans an object with exactly one field.
func scanTagged(text string) (tag, value string, err error) {
	var o object
	o.scan(text)
	if o.err == nil && o.count != 1 {
		o.err = fmt.Errorf("%d fields; want one that names the kind", o.count)
	}
	return o.first[0].name, o.first[0].value, o.err
}

func (o *object) fail(name string, err error) {
	if o.err == nil {
		o.err = fmt.Errorf("field %q: %w", name, err)
	}
}

// get returns the text of a field's value, "" if the field is absent. An optional field that is null counts as absent. A
// missing required field is an error, and so is a duplicate field.
func (o *object) get(name string, needed bool) string {
	value := ""
	for i := range o.count {
		if f := o.at(i); f.name == name {
			if value != "" {
				o.fail(name, errors.New("duplicate"))
				return ""
			}
			value = f.value
		}
	}
	if needed && value == "" {
		o.fail(name, errors.New("missing"))
	}
	if !needed && value == "null" {
		return ""
	}
	return value
}

func (o *object) text(name string) string      { return o.toText(name, o.get(name, true)) }
func (o *object) optText(name string) string   { return o.toText(name, o.get(name, false)) }
func (o *object) number(name string) uint64    { return o.toNumber(name, o.get(name, true), 64) }
func (o *object) number32(name string) uint32  { return uint32(o.toNumber(name, o.get(name, true), 32)) }
func (o *object) optNumber(name string) uint64 { return o.toNumber(name, o.get(name, false), 64) }

// textPointer returns nil for a field that is null or absent.
func (o *object) textPointer(name string) *string {
	value := o.get(name, false)
	if value == "" {
		return nil
	}
	s := o.toText(name, value)
	return &s
}

func (o *object) boolean(name string) bool {
	value := o.get(name, true)
	if value != "" && value != "true" && value != "false" {
		o.fail(name, wrongType("true or false", value))
	}
	return value == "true"
}

// carried reads [[name,data],…]. An empty list is read as nil.
func (o *object) carried(name string) []CarriedEvent {
	value := o.get(name, false)
	if value == "" {
		return nil
	}
	rows, err := scanArray(value)
	if err != nil {
		o.fail(name, err)
		return nil
	}
	var out []CarriedEvent
	for _, row := range rows {
		pair, err := scanArray(row)
		if err != nil || len(pair) != 2 {
			o.fail(name, fmt.Errorf("want [name,data], got %s", describe(row)))
			return nil
		}
		out = append(out, CarriedEvent{Name: o.toText(name, pair[0]), Data: o.toText(name, pair[1])})
	}
	return out
}

func (o *object) toText(name, value string) string {
	if value == "" {
		return ""
	}
	if value[0] != '"' {
		o.fail(name, wrongType("a string", value))
		return ""
	}
	return unquote(value)
}

func (o *object) toNumber(name, value string, bits int) uint64 {
	if value == "" {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, bits)
	if err != nil {
		o.fail(name, wrongType(fmt.Sprintf("a whole number of %d bits", bits), value))
		return 0
	}
	return n
}

func wrongType(want, value string) error { return fmt.Errorf("want %s, got %s", want, describe(value)) }

// describe shows a value in an error: a number or a word verbatim, anything else by its type.
func describe(value string) string {
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

// scanArray splits the text of a checked array into its elements.
func scanArray(value string) ([]string, error) {
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
