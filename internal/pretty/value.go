package pretty

import (
	"fmt"
	"reflect"
)

// Value formats v as text. v must not be cyclic.
func Value(v any) string { return string(appendValue(nil, reflect.ValueOf(v))) }

func appendValue(b []byte, v reflect.Value) []byte {
	pointer := v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface
	if !v.IsValid() || pointer && v.IsNil() {
		return append(b, "<nil>"...)
	}
	if v.CanInterface() {
		switch v.Interface().(type) {
		case fmt.Stringer, error:
			return fmt.Append(b, v.Interface())
		}
	}
	if pointer {
		return appendValue(b, v.Elem())
	}
	switch v.Kind() {
	case reflect.Struct:
		b = append(b, '{')
		for i := range v.NumField() {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(append(b, v.Type().Field(i).Name...), ':')
			b = appendValue(b, v.Field(i))
		}
		return append(b, '}')
	case reflect.Slice, reflect.Array:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ' ')
			}
			b = appendValue(b, v.Index(i))
		}
		return append(b, ']')
	}
	return fmt.Appendf(b, "%+v", v)
}
