package sim

import (
	"math"
	"time"
)

// Time is a point in kernel time: whole microseconds since the Unix epoch. It has no location and no monotonic part, so
// times can be compared, stored and hashed as plain numbers.
type Time int64

// Epoch is where kernel time starts by default: 2025-01-01T00:00:00Z. It is not zero, so that a forgotten time field
// does not look like the start of a run.
const Epoch Time = 1_735_689_600_000_000

// Millis returns t in whole milliseconds, rounded down. This is the time that a store with a millisecond clock sees.
func (t Time) Millis() int64 {
	ms := int64(t) / 1000
	if int64(t)%1000 < 0 {
		ms--
	}
	return ms
}

// Add returns t plus d. Any fraction of a microsecond in d is truncated toward zero.
func (t Time) Add(d time.Duration) Time {
	return t + Time(d/time.Microsecond)
}

// Sub returns how long t is after u. A difference that exceeds the range of time.Duration (292 years) is clamped, as in
// time.Time.Sub.
func (t Time) Sub(u Time) time.Duration {
	const most = math.MaxInt64 / int64(time.Microsecond)
	d := int64(t) - int64(u)
	switch wrapped := (d < 0) != (t < u); {
	case t > u && (wrapped || d > most):
		return math.MaxInt64
	case t < u && (wrapped || d < -most):
		return math.MinInt64
	}
	return time.Duration(d) * time.Microsecond
}
