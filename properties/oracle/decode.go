package oracle

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// decode reads one JSON value with every needed field; a field is needed unless it is marked omitempty or omitzero. If
// it is strict it takes no unknown field either, so that a misspelt name is an error and not a default. Errors say where
// in the value something is wrong, as in "params.metadata.status".
func decode(data []byte, into any, where string, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(into); err != nil {
		return explain(err, where)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: something after the value", where)
	}
	return missing(data, reflect.TypeOf(into).Elem(), where)
}

func explain(err error, where string) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field != "" {
			where += "." + wrong.Field
		}
		return fmt.Errorf("%s: want %s, got %s", where, describeType(wrong.Type), wrong.Value)
	}
	return fmt.Errorf("%s: %s", where, strings.TrimPrefix(err.Error(), "json: "))
}

func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// readsItself says that a type has its own way of reading JSON.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// missing finds a field that is needed and not there.
func missing(data []byte, t reflect.Type, where string) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if string(bytes.TrimSpace(data)) == "null" || readsItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			return explain(err, where)
		}
		for i := range t.NumField() {
			name, optional, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			value, there := fields[name]
			switch {
			case there:
				if err := missing(value, t.Field(i).Type, where+"."+name); err != nil {
					return err
				}
			case optional == "" && name != "":
				return fmt.Errorf("%s.%s: missing", where, name)
			}
		}
	case reflect.Slice:
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			return explain(err, where)
		}
		for i, element := range elements {
			if err := missing(element, t.Elem(), fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	}
	return nil
}
