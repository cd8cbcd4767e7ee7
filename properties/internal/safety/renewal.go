package safety

import (
	"time"
)

// renewedAfterMs returns how long after it is taken the contract lets a lock be renewed
// (docs/contract/runtime.md#r4): a lock of 15 s or more, a buffer before its end; a shorter one, after the least number of
// whole seconds that is half of it. It is a second at least. It states the rule apart from the node, which it judges.
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
