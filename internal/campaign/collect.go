package campaign

import (
	"math"
	"os"
	"runtime/debug"
	"sync"
)

// How far the heap may grow, in percent of what lives and in bytes, before garbage is collected. Runs are short and little
// of what they make lives, so that a collection is worth little: with the usual 100 percent a fifth of the time goes into
// it. Beyond the limit memory counts for more.
const (
	heapPercent = 1600
	heapLimit   = 1 << 30
	// What Go begins with.
	usualPercent = 100
	usualLimit   = math.MaxInt64
)

var collecting struct {
	sync.Mutex
	users  int
	raised bool  // the percentage is ours
	limit  int64 // the limit before
}

// CollectLess lets the heap grow until the returned function is called, which must be called once. The setting is the
// process's: of several that ask for it at once, the last to leave takes it back. What the user has chosen, by GOGC,
// GOMEMLIMIT or package runtime/debug, stays.
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
