package safety

import (
	"time"
)

// renewedAfterMs returns the time from the grant of a lock after which the contract lets its holder renew it
// (docs/contract/runtime.md#r4). A lock of 15 s or more is renewed the buffer before its end; a shorter one after half
// of its time, rounded up to whole seconds; never sooner than after one second. It states the rule independently of the
// node, which it judges.
func renewedAfterMs(timeout, buffer time.Duration) int64 {
	if timeout >= 15*time.Second {
		if left := timeout - buffer; left > time.Second {
			return left.Milliseconds()
		}
		return 1000
	}
	seconds := int64(1)
	for 2*time.Duration(seconds)*time.Second < timeout {
		seconds++
	}
	return 1000 * seconds
}
