package pretty_test

import (
	"testing"

	"github.com/durosim/durosim/internal/pretty"
)

func TestDuration(t *testing.T) {
	for ms, want := range map[int64]string{0: "0s", 7: "7ms", 9125: "9.125s", 75_000: "1m15s", 309_614: "5m9.614s", 90_061_000: "25h1m1s", -3: "-3ms"} {
		if got := pretty.Duration(ms); got != want {
			t.Errorf("%d ms: got %s, want %s", ms, got, want)
		}
	}
}

func TestAnd(t *testing.T) {
	for _, c := range []struct {
		want  string
		parts []string
	}{{"One", []string{"one"}}, {"One and two", []string{"one", "two"}}, {"One, two and three", []string{"one", "two", "three"}}} {
		if got := pretty.Capital(pretty.And(c.parts)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
