package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/durosim/durosim/sim"
)

func TestTime(t *testing.T) {
	if want := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(); int64(sim.Epoch) != want {
		t.Errorf("Epoch is %d, want %d", sim.Epoch, want)
	}
	for _, c := range []struct {
		t    sim.Time
		want int64
	}{{0, 0}, {999, 0}, {1000, 1}, {1999, 1}, {-1, -1}, {-1000, -1}, {-1001, -2}, {math.MinInt64, -9223372036854776}} {
		if got := c.t.Millis(); got != c.want {
			t.Errorf("Time(%d).Millis() is %d, want %d", c.t, got, c.want)
		}
	}
	for _, c := range []struct {
		d    time.Duration
		want sim.Time
	}{{0, 100}, {999, 100}, {time.Microsecond, 101}, {1999, 101}, {-1999, 99}, {time.Second, 1000100}} {
		if got := sim.Time(100).Add(c.d); got != c.want {
			t.Errorf("100 + %v is %d, want %d", c.d, got, c.want)
		}
	}
	const most = sim.Time(math.MaxInt64 / 1000)
	for _, c := range []struct {
		t, u sim.Time
		want time.Duration
	}{
		{5, 2, 3 * time.Microsecond}, {2, 5, -3 * time.Microsecond}, {7, 7, 0}, {most, 0, time.Duration(most) * 1000},
		{most + 1, 0, math.MaxInt64}, {-most, 0, -time.Duration(most) * 1000}, {-most - 1, 0, math.MinInt64},
		{math.MaxInt64, math.MinInt64, math.MaxInt64},
		{math.MinInt64, math.MaxInt64, math.MinInt64},
	} {
		if got := c.t.Sub(c.u); got != c.want {
			t.Errorf("%d - %d is %d, want %d", c.t, c.u, got, c.want)
		}
	}
}
