package safety

import (
	"testing"
	"time"
)

// TestRenewedAfter asks when locks must be renewed, at the bounds of docs/contract/runtime.md#r4.
func TestRenewedAfter(t *testing.T) {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, row := range []struct{ timeout, buffer, want int64 }{
		{0, 0, 1000}, {1000, 0, 1000}, {2000, 0, 1000}, {2001, 0, 2000}, {5000, 2000, 3000}, {14_999, 5000, 8000},
		{15_000, 5000, 10_000}, {15_000, 13_999, 1001}, {15_000, 14_000, 1000}, {15_000, 14_500, 1000}, {30_000, 5000, 25_000},
	} {
		if got := renewedAfterMs(ms(row.timeout), ms(row.buffer)); got != row.want {
			t.Errorf("a lock of %d ms with a buffer of %d ms is renewed after %d ms, want %d ms", row.timeout, row.buffer, got, row.want)
		}
	}
}
