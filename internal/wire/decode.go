package wire

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

// decodeParams reads a call's parameters: one object with every needed field and no unknown one, so that a misspelt
// name is an error and not a default. Missing parameters are an empty object.
func decodeParams(data []byte, into any) error {
	if len(data) == 0 {
		data = []byte("{}")
	}
	return decode(data, into, "params", true)
}

// decodeResult reads a result. Unknown fields are ignored: a provider may tell more than is asked. null is a result only
// where there may be none.
func decodeResult(data []byte, into any) error {
	if t := reflect.TypeOf(into).Elem(); t.Kind() != reflect.Pointer && string(data) == "null" {
		return fmt.Errorf("result: want %s, got null", describeType(t))
	}
	return decode(data, into, "result", false)
}

// decode says in its errors where in the text something is wrong, as in "params.filter.min".
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

// missing finds a field that is needed, which is each that is not marked omitempty, and not there.
func missing(data []byte, t reflect.Type, where string) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	ownReader := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	if string(bytes.TrimSpace(data)) == "null" || ownReader {
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
