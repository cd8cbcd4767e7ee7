package pretty

import "time"

// Duration formats ms, a virtual duration or a time since the start of a run, in milliseconds.
func Duration(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }
