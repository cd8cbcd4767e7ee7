package span

import "time"

// Text formats a span of virtual time, or a time since the start of a run, given in milliseconds.
func Text(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }
