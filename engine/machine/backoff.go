package machine

import "time"

// The fixed delays from docs/contract/runtime.md#r0 and docs/contract-decisions.md.
const (
	// Abandon delays: IncompatibleDelay for an incompatible pin, HistoryErrorDelay for an undecodable history, and
	// WaitForStartDelay for input that precedes its start.
	IncompatibleDelay = time.Second
	HistoryErrorDelay = time.Second
	WaitForStartDelay = time.Second
	// StallDelay is that of Routing.Stalls. It is no multiple of the interval at which nodes poll: the node that gives work
	// back would be the first to find it again each time.
	StallDelay = 1050 * time.Millisecond
	// ackFailedDelay is the abandon delay after a turn's ack has failed permanently. workAckFailedDelay is the same for
	// an activity's ack.
	ackFailedDelay     = 50 * time.Millisecond
	workAckFailedDelay = 100 * time.Millisecond
	// sessionsFullDelay is the abandon delay for a session activity fetched while the node is at its session limit.
	sessionsFullDelay = 100 * time.Millisecond
	// AckRetries is the maximum number of times that a node resends an ack after retryable errors.
	AckRetries = 5
	// permanentFetchErrorDelay is the pause after a fetch fails with a permanent error.
	permanentFetchErrorDelay = 100 * time.Millisecond
)

// RenewalInterval returns the time between taking or renewing a lock and the next renewal. The same formula applies to
// turns, activities and sessions (docs/contract/runtime.md#r4). For a timeout of 15 s or more, the interval is the
// timeout minus the buffer, but at least 1 s. For a shorter timeout, it is half the timeout, rounded up to whole
// seconds, and the buffer is ignored. A lock of 1 s or less therefore expires before it is renewed.
func RenewalInterval(timeout, buffer time.Duration) time.Duration {
	if timeout >= 15*time.Second {
		return max(timeout-min(buffer, timeout), time.Second)
	}
	// Half the timeout, rounded up to whole seconds.
	seconds := (timeout + 2*time.Second - 1) / (2 * time.Second)
	return max(seconds, 1) * time.Second
}

// RenewalRetryDelay returns the pause after a renewal fails with a retryable error. The pause is timeout/20, but at
// least 10 ms and at most 500 ms.
func RenewalRetryDelay(timeout time.Duration) time.Duration {
	return min(max((timeout/20).Truncate(time.Millisecond), 10*time.Millisecond), 500*time.Millisecond)
}

// UnregisteredBackoff returns the abandon delay for the n-th delivery of work without a handler: min(base * 2^min(n-1,
// 6), most).
func UnregisteredBackoff(n uint32, base, most time.Duration) time.Duration {
	exponent := min(max(n, 1)-1, 6)
	delay := base << exponent
	if delay>>exponent != base { // the shift overflowed
		return most
	}
	return min(delay, most)
}

// FetchErrorBackoff returns the pause after the k-th consecutive retryable fetch error: min(100 * 2^k, 3000) ms. k
// starts at 1.
func FetchErrorBackoff(k int) time.Duration {
	return min(100*time.Millisecond<<min(max(k, 0), 5), 3*time.Second)
}

// AckRetryDelay returns the pause before the k-th retry of an ack: 10, 20, 40, 80, 160 ms. k starts at 1.
func AckRetryDelay(k int) time.Duration {
	return 10 * time.Millisecond << min(max(k-1, 0), AckRetries-1)
}
