package eventdata

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Form is the JSON form of a struct. It follows from the struct's tags: `json:"name"` is the name of a field, which is
// omitted if empty with `json:"name,omitempty"`, and null if empty with `form:"null"`. A field with either of these, or
// with `form:"optional"`, need not be there to be read. Fields are written in the order of the struct.
type Form struct {
	Kind   string
	data   reflect.Type
	fields []formField
}

type formField struct {
	FormField
	key      string // with its punctuation
	index    int
	of       fieldType
	optional bool // need not be there
}

// FormField describes a field of a Form.
type FormField struct {
	Name string
	// Type is the type of the Go field.
	Type reflect.Type
	// Optional is set if an empty value is omitted. Nullable is set if an empty value is written as null.
	Optional, Nullable bool
}

// fieldType tells how a field is read and written.
type fieldType uint8

const (
	fieldText fieldType = iota
	fieldNumber
	fieldTextPointer
	fieldCarried
	fieldDetails
)

var fieldTypes = map[reflect.Type]fieldType{
	reflect.TypeFor[string](): fieldText, reflect.TypeFor[uint64](): fieldNumber,
	reflect.TypeFor[*string]():        fieldTextPointer,
	reflect.TypeFor[[]CarriedEvent](): fieldCarried, reflect.TypeFor[ErrorDetails](): fieldDetails,
}

// NewForm returns the form of the struct v. It panics if a tagged field has a type that no form has.
func NewForm(kind string, v any) *Form {
	form := &Form{Kind: kind, data: reflect.TypeOf(v)}
	for i := range form.data.NumField() {
		f := form.data.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		of, known := fieldTypes[f.Type]
		if !known {
			panic(fmt.Sprintf("field %s of %T: no form has the type %v", f.Name, v, f.Type))
		}
		rule := f.Tag.Get("form")
		form.fields = append(form.fields, formField{
			FormField: FormField{Name: name, Type: f.Type, Optional: option == "omitempty", Nullable: rule == "null"},
			key:       `,"` + name + `":`, index: i, of: of, optional: option != "" || rule != "",
		})
	}
	return form
}

// Type returns the type of the struct.
func (f *Form) Type() reflect.Type { return f.data }

// Fields returns the fields in the order in which they are written.
func (f *Form) Fields() []FormField {
	list := make([]FormField, len(f.fields))
	for i := range f.fields {
		list[i] = f.fields[i].FormField
	}
	return list
}

// Read returns the struct whose fields are those of o. It reports errors in o.Err.
func (f *Form) Read(o *Object) any {
	s := reflect.New(f.data).Elem()
	for i := range f.fields {
		field := &f.fields[i]
		text := o.Get(field.Name, !field.optional)
		if text == "" {
			continue
		}
		switch value := s.Field(field.index); field.of {
		case fieldText:
			value.SetString(o.ToText(field.Name, text))
		case fieldNumber:
			value.SetUint(o.toNumber(field.Name, text, 64))
		case fieldTextPointer:
			pointed := o.ToText(field.Name, text)
			value.Set(reflect.ValueOf(&pointed))
		case fieldCarried:
			value.Set(reflect.ValueOf(carried(o, field.Name, text)))
		case fieldDetails:
			d, err := parseDetails(text)
			if err != nil {
				o.Fail(field.Name, err)
			}
			value.Set(reflect.ValueOf(d))
		}
	}
	return s.Interface()
}

// Append appends the fields of data, which has the form's type, as members of an object: each begins with a comma.
func (f *Form) Append(dst []byte, data any) ([]byte, error) {
	s := reflect.ValueOf(data)
	if s.Type() != f.data {
		return dst, fmt.Errorf("a %T; want it by value", data)
	}
	var err error
	for i := range f.fields {
		switch field := &f.fields[i]; field.of {
		case fieldText:
			if text := s.Field(field.index).String(); text != "" || !field.optional {
				dst = AppendString(append(dst, field.key...), text)
			} else if field.Nullable {
				dst = append(append(dst, field.key...), "null"...)
			}
		case fieldNumber:
			if n := s.Field(field.index).Uint(); n != 0 || !field.Optional && !field.Nullable {
				dst = strconv.AppendUint(append(dst, field.key...), n, 10)
			} else if field.Nullable {
				dst = append(append(dst, field.key...), "null"...)
			}
		case fieldTextPointer:
			if text := s.Field(field.index); !text.IsNil() {
				dst = AppendString(append(dst, field.key...), text.Elem().String())
			} else if field.Nullable {
				dst = append(append(dst, field.key...), "null"...)
			}
		case fieldCarried:
			if list := s.Field(field.index); list.Len() > 0 || !field.Optional {
				dst = appendCarried(append(dst, field.key...), list.Interface().([]CarriedEvent))
			}
		case fieldDetails:
			dst, err = AppendDetails(append(dst, field.key...), s.Field(field.index).Interface().(ErrorDetails))
		}
	}
	return dst, err
}

// appendCarried appends [[name,data],…].
func appendCarried(dst []byte, events []CarriedEvent) []byte {
	dst = append(dst, '[')
	for i, e := range events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(append(dst, '['), e.Name)
		dst = AppendString(append(dst, ','), e.Data)
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

// carried parses [[name,data],…]. It returns nil for an empty list.
func carried(o *Object, name, value string) []CarriedEvent {
	rows, err := ScanArray(value)
	if err != nil {
		o.Fail(name, err)
		return nil
	}
	var out []CarriedEvent
	for _, row := range rows {
		pair, err := ScanArray(row)
		if err != nil || len(pair) != 2 {
			o.Fail(name, fmt.Errorf("want [name,data], got %s", Describe(row)))
			return nil
		}
		out = append(out, CarriedEvent{Name: o.ToText(name, pair[0]), Data: o.ToText(name, pair[1])})
	}
	return out
}
