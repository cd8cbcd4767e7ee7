package campaign

import (
	"math"
	"os"
	"runtime/debug"
	"sync"
)

// How far the heap may grow before garbage is collected: in percent of the live heap, and in bytes. Runs are short and
// little of what they allocate survives, so that a collection gains little; with the usual 100 percent it takes a fifth of
// the time. Beyond the limit memory counts for more.
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
// process's: of several users at once, the last to finish restores it. What GOGC, GOMEMLIMIT or package runtime/debug
// have set stays.
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
