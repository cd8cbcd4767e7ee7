package safety

import (
	"time"
)

// renewedAfterMs returns how long after a lock is granted its holder must renew it
// (docs/contract/runtime.md#r4). A lock of 15 s or more is renewed when only the buffer is left. A shorter lock is
// renewed after half its time, rounded up to whole seconds. No lock is renewed within its first second. This states the
// rule independently of machine.RenewalInterval, as renewedAfter in package conduct does.
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
