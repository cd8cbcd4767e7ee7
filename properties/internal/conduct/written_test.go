package conduct

import (
	"log/slog"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/machine"
)

// TestSays checks which structured records say what a line says.
func TestSays(t *testing.T) {
	const at = 1_700_000_000_123
	record := func(ms int64, level slog.Level, text string, attrs ...slog.Attr) slog.Record {
		r := slog.NewRecord(time.UnixMilli(ms).UTC(), level, text, 0)
		r.AddAttrs(attrs...)
		return r
	}
	in, one, two := slog.String("instance", "x"), slog.String("one", "1"), slog.String("two", "2")
	whole := machine.Log{Level: machine.LevelWarn, Text: "text", Instance: "x", Fields: []machine.Field{field("one", "1"), field("two", "2")}}
	bare := machine.Log{Level: machine.LevelError, Text: "text"}
	for _, test := range []struct {
		name string
		line machine.Log
		got  slog.Record
		want bool
	}{
		{"the same", whole, record(at, slog.LevelWarn, "text", in, one, two), true},
		{"another time", whole, record(at+1, slog.LevelWarn, "text", in, one, two), false},
		{"another level", whole, record(at, slog.LevelInfo, "text", in, one, two), false},
		{"another text", whole, record(at, slog.LevelWarn, "text!", in, one, two), false},
		{"another instance", whole, record(at, slog.LevelWarn, "text", slog.String("instance", "y"), one, two), false},
		{"the instance under another name", whole, record(at, slog.LevelWarn, "text", slog.String("id", "x"), one, two), false},
		{"no instance", whole, record(at, slog.LevelWarn, "text", one, two), false},
		{"no attributes", whole, record(at, slog.LevelWarn, "text"), false},
		{"another value", whole, record(at, slog.LevelWarn, "text", in, one, slog.String("two", "3")), false},
		{"another name", whole, record(at, slog.LevelWarn, "text", in, slog.String("three", "1"), two), false},
		{"another order", whole, record(at, slog.LevelWarn, "text", in, two, one), false},
		{"a field less", whole, record(at, slog.LevelWarn, "text", in, one), false},
		{"a field more", whole, record(at, slog.LevelWarn, "text", in, one, two, two), false},
		{"the instance last", whole, record(at, slog.LevelWarn, "text", one, two, in), false},
		{"a bare line", bare, record(at, slog.LevelError, "text"), true},
		{"an instance of a bare line", bare, record(at, slog.LevelError, "text", in), false},
		{"a field of a bare line", bare, record(at, slog.LevelError, "text", one), false},
	} {
		if got := says(test.got, &test.line, at); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}
