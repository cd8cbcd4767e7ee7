package check_test

import (
	"testing"
	"time"

	"github.com/durosim/durosim/properties/internal/check"
)

// TestRenewedAfter asks when locks must be renewed, at the bounds of docs/contract/runtime.md#r4.
func TestRenewedAfter(t *testing.T) {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, row := range []struct{ timeout, buffer, want int64 }{
		{0, 0, 1000}, {1000, 0, 1000}, {2000, 0, 1000}, {2001, 0, 2000}, {5000, 2000, 3000}, {14_999, 5000, 8000},
		{15_000, 5000, 10_000}, {15_000, 13_999, 1001}, {15_000, 14_000, 1000}, {15_000, 14_500, 1000}, {30_000, 5000, 25_000},
	} {
		if got := check.RenewedAfter(ms(row.timeout), ms(row.buffer)).Milliseconds(); got != row.want {
			t.Errorf("a lock of %d ms with a buffer of %d ms is renewed after %d ms, want %d ms", row.timeout, row.buffer, got, row.want)
		}
	}
}

// TestBackoff computes delays that grow with the attempts.
func TestBackoff(t *testing.T) {
	for _, row := range []struct {
		attempt    uint32
		base, most time.Duration
		want       time.Duration
	}{
		{0, 2, 1000, 2}, {1, 2, 1000, 2}, {2, 2, 1000, 4}, {3, 2, 1000, 8}, {7, 2, 1000, 128}, {8, 2, 1000, 128}, {3, 2, 5, 5}, {2, 2, 4, 4}, {1, 9, 5, 5},
	} {
		if got := check.Backoff(row.attempt, row.base, row.most); got != row.want {
			t.Errorf("attempt %d, %d to %d: %d, want %d", row.attempt, row.base, row.most, got, row.want)
		}
	}
}
