package check

import "time"

// This file states, for all checkers, the times by which a node renews locks and gives work back. It shares nothing with
// the node.

// RenewedAfter returns how long after a lock is granted its holder renews it (docs/contract/runtime.md#r4). A lock of
// 15 s or more is renewed when only the buffer is left. A shorter lock is renewed after half its time, rounded up to
// whole seconds. No lock is renewed within its first second.
func RenewedAfter(timeout, buffer time.Duration) time.Duration {
	if timeout >= 15*time.Second {
		return max(timeout-buffer, time.Second)
	}
	after := time.Second
	for 2*after < timeout {
		after += time.Second
	}
	return after
}

// RenewalRetry returns the pause after a renewal that failed with a retryable error: a twentieth of the timeout in whole
// milliseconds, but at least 10 ms and at most 500 ms.
func RenewalRetry(timeout time.Duration) time.Duration {
	return min(max(timeout/20, 10*time.Millisecond), 500*time.Millisecond).Truncate(time.Millisecond)
}

// Backoff returns the delay for work that a node cannot run: the base, doubled for each delivery after the first, at
// most six times, and capped at most.
func Backoff(attempt uint32, base, most time.Duration) time.Duration {
	d := base
	for i := uint32(1); i < min(attempt, 7) && d < most; i++ {
		d *= 2
	}
	return min(d, most)
}

const (
	// OutageMs is the longest that a store may refuse every call. The fault record marks the start of the outage.
	OutageMs = 3000
	// GivenBack is the delay for work that waits for something else: a node with another range, readable bytes, a start.
	GivenBack = time.Second
	// Stalled is the delay for work that another node is to take, under the strategy stall.
	Stalled = 1050 * time.Millisecond
	// LastAckRetry is the pause before the last retry of an ack, the longest of them: 10 ms, doubled each time, five times.
	LastAckRetry = 160 * time.Millisecond
	// FetchPause is the longest pause after fetches that failed with a retryable error.
	FetchPause = 3 * time.Second
)
