package machine

import (
	"context"
	"fmt"
	"log/slog"
	"os"
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

func ExampleLog_Record() {
	handler := slog.NewTextHandler(os.Stdout, nil)
	for _, line := range []Log{
		{Level: LevelWarn, Text: "ignoring duplicate completion", Instance: "order-1", Fields: []Field{{"id", "3"}, {"of", "2"}}},
		{Level: LevelInfo, Text: "charging", Instance: "order-1"},
		{Level: LevelError, Text: "no store"},
	} {
		fmt.Println(handler.Handle(context.Background(), line.Record(1500)))
	}
	// Output:
	// time=1970-01-01T00:00:01.500Z level=WARN msg="ignoring duplicate completion" instance=order-1 id=3 of=2
	// <nil>
	// time=1970-01-01T00:00:01.500Z level=INFO msg=charging instance=order-1
	// <nil>
	// time=1970-01-01T00:00:01.500Z level=ERROR msg="no store"
	// <nil>
}
