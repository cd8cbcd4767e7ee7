package rig

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Change changes the value at v one leaf at a time. After each change, it calls told with the leaf's path and then
// undoes the change. It increments numbers, doubles durations, extends texts and negates bools. It sets pointers to nil, or to a zero
// value if they are nil. In a list, it removes the first element, removes the last, and repeats the last. Unexported
// fields are not changed.
func Change(v any, told func(path string)) { change(reflect.ValueOf(v).Elem(), "", told) }

func change(v reflect.Value, path string, told func(path string)) {
	try := func(to reflect.Value, how string) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(to.Convert(v.Type()))
		told(path + how)
		v.Set(was)
	}
	// inside changes each part of a copy of the value that v holds. While told runs, the copy is in place of the original.
	inside := func(of reflect.Value, holder func(copied reflect.Value) reflect.Value) {
		copied := reflect.New(of.Type()).Elem()
		copied.Set(of)
		change(copied, path, func(path string) {
			was := reflect.New(v.Type()).Elem()
			was.Set(v)
			v.Set(holder(copied))
			told(path)
			v.Set(was)
		})
	}
	switch d, ok := v.Interface().(time.Duration); {
	case ok && d == 0:
		try(reflect.ValueOf(time.Second), "")
		return
	case ok:
		try(reflect.ValueOf(2*d), "")
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		try(reflect.ValueOf(!v.Bool()), "")
	case reflect.Int, reflect.Int32, reflect.Int64:
		try(reflect.ValueOf(v.Int()+1), "")
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		try(reflect.ValueOf(v.Uint()+1), "")
	case reflect.String:
		try(reflect.ValueOf(v.String()+"~"), "")
	case reflect.Interface:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct {
			inside(v.Elem(), func(copied reflect.Value) reflect.Value { return copied })
		}
	case reflect.Pointer:
		if v.IsNil() {
			try(reflect.New(v.Type().Elem()), " there")
			return
		}
		try(reflect.Zero(v.Type()), " gone")
		inside(v.Elem(), func(copied reflect.Value) reflect.Value { return copied.Addr() })
	case reflect.Slice:
		list(v, path, try, told)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				change(v.Field(i), strings.TrimPrefix(path+"."+f.Name, "."), told)
			}
		}
	}
}

func list(v reflect.Value, path string, try func(to reflect.Value, how string), told func(path string)) {
	own := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 0), v)
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if v.Len() > 0 {
			longer := reflect.Append(own, reflect.ValueOf(byte(' ')).Convert(v.Type().Elem()))
			try(longer, " longer")
			try(longer.Slice(0, v.Len()-1), " shorter")
		}
		return
	}
	if v.Len() == 0 {
		return
	}
	try(own.Slice(1, v.Len()), " without the first")
	try(own.Slice(0, v.Len()-1), " without the last")
	try(reflect.Append(own, own.Index(v.Len()-1)), " with the last twice")
	for i := range v.Len() {
		change(v.Index(i), fmt.Sprintf("%s[%d]", path, i), told)
	}
}
