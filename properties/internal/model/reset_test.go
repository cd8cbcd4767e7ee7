package model

import (
	"reflect"
	"testing"
)

// TestReset checks that Call.reset, which names the fields one by one, forgets none: whatever a call has left behind
// would be taken for that of the next. It leaves the request, which the next call always replaces.
func TestReset(t *testing.T) {
	var c Call
	fields := reflect.ValueOf(&c).Elem()
	for i := range fields.NumField() {
		name, v := fields.Type().Field(i).Name, fields.Field(i)
		if v.CanSet() && name != "Request" {
			fill(v)
		}
		if v.IsZero() && name != "Request" {
			t.Fatalf("%s is not filled in", name)
		}
	}
	c.reset()
	for i := range fields.NumField() {
		if v := fields.Field(i); !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0) {
			t.Errorf("%s is kept: %v", fields.Type().Field(i).Name, v)
		}
	}
}

// fill sets a value, or a part of it, to something other than zero.
func fill(v reflect.Value) {
	switch {
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case v.Kind() == reflect.Array:
		fill(v.Index(0))
	case v.Kind() == reflect.Struct:
		fill(v.Field(0))
	}
}
