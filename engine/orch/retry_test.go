package orch_test

import (
	"math"
	"testing"
	"time"

	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestBackoffs checks the table of pauses, including those that would overflow.
func TestBackoffs(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name string
		b    orch.Backoff
		want map[int]time.Duration
	}{
		{"default", orch.DefaultRetryPolicy().Backoff, map[int]time.Duration{1: 100 * ms, 2: 200 * ms, 3: 400 * ms, 9: 25600 * ms, 10: 30 * time.Second, math.MaxInt: 30 * time.Second}},
		{"fixed", orch.FixedBackoff(5 * ms), map[int]time.Duration{1: 5 * ms, 7: 5 * ms}},
		{"linear", orch.LinearBackoff(3*ms, 10*ms), map[int]time.Duration{1: 3 * ms, 3: 9 * ms, 4: 10 * ms, math.MaxInt: 10 * ms}},
		{"exponential of one", orch.ExponentialBackoff(3*ms, 1, 10*ms), map[int]time.Duration{1: 3 * ms, math.MaxInt: 3 * ms}},
		{"exponential above its most", orch.ExponentialBackoff(30*ms, 2, 10*ms), map[int]time.Duration{1: 10 * ms, 2: 10 * ms}},
		{"exponential of nothing", orch.ExponentialBackoff(0, 2, 10*ms), map[int]time.Duration{1: 0, math.MaxInt: 0}},
		{"exponential to the end", orch.ExponentialBackoff(math.MaxInt64/2+1, 2, math.MaxInt64), map[int]time.Duration{2: math.MaxInt64}},
	} {
		for n, want := range c.want {
			if got := c.b(n); got != want {
				t.Errorf("%s: pause %d is %v, want %v", c.name, n, got, want)
			}
		}
	}
}

func TestRetryOfNoAttemptsPanics(t *testing.T) {
	sample.Panics(t, "orch: a retry policy needs at least one attempt", func() {
		orch.NewContext(&instant{}).ScheduleActivityWithRetry("a", "", orch.RetryPolicy{})
	})
}
