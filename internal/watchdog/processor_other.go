//go:build !unix

package watchdog

import "time"

// processorTime returns for how long the process has run, since how much processor time it has used is not known here.
func processorTime() time.Duration { return time.Since(began) }
