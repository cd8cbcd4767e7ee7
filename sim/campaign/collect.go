package campaign

import (
	"math"
	"os"
	"runtime/debug"
	"sync"
)

// The amount by which the heap may grow before a garbage collection, as a percentage of the live heap and in bytes.
// Runs are short and little of their memory survives, so frequent collections are wasteful: at the default of 100
// percent, they take a fifth of the time. Above the byte limit, saving memory matters more.
const (
	heapPercent = 1600
	heapLimit   = 1 << 30
	// Go's defaults.
	usualPercent = 100
	usualLimit   = math.MaxInt64
)

var collecting struct {
	sync.Mutex
	users  int
	raised bool  // the percentage has been raised
	limit  int64 // the limit to restore
}

// CollectLess reduces garbage collection by letting the heap grow, until restore is called. restore must be called
// exactly once. The setting affects the whole process; with several concurrent users, only the last call to restore has
// an effect. CollectLess does not override GOGC, GOMEMLIMIT or settings made through runtime/debug.
func CollectLess() (restore func()) {
	c := &collecting
	c.Lock()
	defer c.Unlock()
	if c.users++; c.users == 1 && os.Getenv("GOGC") == "" {
		if old := debug.SetGCPercent(heapPercent); old == usualPercent {
			c.raised = true
		} else {
			debug.SetGCPercent(old)
		}
		if c.limit = debug.SetMemoryLimit(-1); c.raised && c.limit == usualLimit {
			debug.SetMemoryLimit(heapLimit)
		}
	}
	return collectAsBefore
}

func collectAsBefore() {
	c := &collecting
	c.Lock()
	defer c.Unlock()
	if c.users--; c.users == 0 && c.raised {
		c.raised = false
		debug.SetGCPercent(usualPercent)
		debug.SetMemoryLimit(c.limit)
	}
}
