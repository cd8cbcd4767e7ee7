package rig

import (
	"reflect"
	"regexp"
)

var brackets = regexp.MustCompile(`\[\d+\]`)

// Places returns the places in v that Falsify can change: the paths of Change, without the indices in lists.
func Places(v any) (places []string) {
	Change(deepCopy(reflect.ValueOf(v)).Interface(), func(path string) { places = append(places, brackets.ReplaceAllString(path, "[]")) })
	return places
}

// Falsify returns a copy of *v in which the first field of a place is changed, or the last one. It returns v itself if
// there is no such field.
func Falsify[T any](v *T, place string, last bool) *T {
	out, copied := v, deepCopy(reflect.ValueOf(v)).Interface().(*T)
	Change(copied, func(path string) {
		if (out == v || last) && brackets.ReplaceAllString(path, "[]") == place {
			out = deepCopy(reflect.ValueOf(copied)).Interface().(*T)
		}
	})
	return out
}

// deepCopy returns a copy that shares nothing that can be changed through exported fields.
func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() == reflect.Struct && v.Elem().NumField() > 0 && !v.Elem().Type().Field(0).IsExported() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(deepCopy(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return deepCopy(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(deepCopy(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
		return out
	}
	return v
}
