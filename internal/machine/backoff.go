package machine

import "time"

// The fixed delays of docs/contract/runtime.md#r0 and docs/contract-decisions.md.
const (
	// IncompatibleDelay, HistoryErrorDelay and WaitForStartDelay are the delays of abandons with those causes.
	IncompatibleDelay = time.Second
	HistoryErrorDelay = time.Second
	WaitForStartDelay = time.Second
	// ackFailedDelay is the delay of the abandon after a turn's ack fails permanently; workAckFailedDelay is the same
	// for an activity's ack.
	ackFailedDelay     = 50 * time.Millisecond
	workAckFailedDelay = 100 * time.Millisecond
	// sessionsFullDelay is the delay with which a node abandons a session activity beyond the cap.
	sessionsFullDelay = 100 * time.Millisecond
	// AckRetries is how many times a node resends an ack that fails with a retryable error.
	AckRetries = 5
	// permanentFetchErrorDelay is the pause after a fetch that fails permanently.
	permanentFetchErrorDelay = 100 * time.Millisecond
)

// RenewalInterval returns the time from taking or renewing a lock to its next renewal. The same formula applies to
// turns, activities and sessions (docs/contract/runtime.md#r4). For a timeout of 15 s or more, the interval is the
// timeout minus the buffer, at least 1 s. Below 15 s it is half the timeout in whole seconds, rounded up, without the
// buffer. So a lock of 1 s or less expires before its renewal.
func RenewalInterval(timeout, buffer time.Duration) time.Duration {
	if timeout >= 15*time.Second {
		return max(timeout-min(buffer, timeout), time.Second)
	}
	// Half the timeout in seconds, rounded up from any fraction.
	seconds := (timeout + 2*time.Second - 1) / (2 * time.Second)
	return max(seconds, 1) * time.Second
}

// RenewalRetryDelay returns the pause after a renewal that fails with a retryable error: timeout/20, between 10 and 500
// ms.
func RenewalRetryDelay(timeout time.Duration) time.Duration {
	return min(max((timeout/20).Truncate(time.Millisecond), 10*time.Millisecond), 500*time.Millisecond)
}

// UnregisteredBackoff returns the delay with which the node abandons work without a handler on its n-th delivery:
// min(base * 2^min(n-1, 6), most).
func UnregisteredBackoff(n uint32, base, most time.Duration) time.Duration {
	exponent := min(max(n, 1)-1, 6)
	delay := base << exponent
	if delay>>exponent != base { // the shift overflowed
		return most
	}
	return min(delay, most)
}

// FetchErrorBackoff returns the pause after the k-th consecutive retryable fetch error, with k from 1: min(100 * 2^k,
// 3000) ms.
func FetchErrorBackoff(k int) time.Duration {
	return min(100*time.Millisecond<<min(max(k, 0), 5), 3*time.Second)
}

// AckRetryDelay returns the pause before the k-th retry of an ack, with k from 1: 10, 20, 40, 80, 160 ms.
func AckRetryDelay(k int) time.Duration {
	return 10 * time.Millisecond << min(max(k-1, 0), AckRetries-1)
}
