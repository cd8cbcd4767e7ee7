package machine

import (
	"reflect"
	"strings"
	"testing"
)

// TestCountersList checks that every counter is listed, under the name of its field.
func TestCountersList(t *testing.T) {
	var c Counters
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		v.Field(i).SetUint(uint64(i + 1))
	}
	if len(c.List()) != v.NumField() {
		t.Fatalf("%d counters are named, of %d", len(c.List()), v.NumField())
	}
	for i, count := range c.List() {
		if count.Value != uint64(i+1) {
			t.Errorf("%s = %d, want %d", count.Name, count.Value, i+1)
		}
		if field := v.Type().Field(i).Name; !strings.EqualFold(field, strings.ReplaceAll(count.Name, "_", "")) {
			t.Errorf("counter %s is named %q", field, count.Name)
		}
	}
}
