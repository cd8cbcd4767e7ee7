package sample_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/sample"
)

func TestOf(t *testing.T) {
	rows := []int{0, 1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		long  string
		every int
		want  []int
	}{
		{"", 3, []int{0, 3, 6}}, {"", 1, rows}, {"", 10, []int{0}}, {"1", 3, rows},
	} {
		t.Setenv(sample.Env, c.long)
		if diff := cmp.Diff(c.want, sample.Of(rows, c.every)); diff != "" {
			t.Errorf("every %d with %s=%q: %s", c.every, sample.Env, c.long, diff)
		}
		want := uint64(2)
		if c.long != "" {
			want = 30
		}
		if got := sample.Number(2, 30); got != want {
			t.Errorf("2 or 30 with %s=%q: got %d", sample.Env, c.long, got)
		}
	}
}
