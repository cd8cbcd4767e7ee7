package campaign_test

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/durosim/durosim/sim/campaign"
)

// setting returns the process's garbage collection settings.
func setting() (percent int, limit int64) {
	percent = debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

func checkSetting(t *testing.T, when string, wantPercent int, wantLimit int64) {
	t.Helper()
	if percent, limit := setting(); percent != wantPercent || limit != wantLimit {
		t.Errorf("%s: the heap may grow by %d percent up to %d bytes; want %d and %d", when, percent, limit, wantPercent, wantLimit)
	}
}

// begin sets garbage collection for a test and restores the previous settings when the test ends.
func begin(t *testing.T, percent int, limit int64) {
	t.Setenv("GOGC", "")
	oldPercent, oldLimit := debug.SetGCPercent(percent), debug.SetMemoryLimit(limit)
	t.Cleanup(func() {
		debug.SetGCPercent(oldPercent)
		debug.SetMemoryLimit(oldLimit)
	})
}

func TestCollectLess(t *testing.T) {
	begin(t, 100, math.MaxInt64)
	one, two := campaign.CollectLess(), campaign.CollectLess()
	checkSetting(t, "in two campaigns", 1600, 1<<30)
	one()
	checkSetting(t, "in the one that is left", 1600, 1<<30)
	two()
	checkSetting(t, "after both", 100, math.MaxInt64)
	campaign.CollectLess()()
	checkSetting(t, "after another", 100, math.MaxInt64)
}

func TestCollectLessLeavesWhatTheUserChose(t *testing.T) {
	t.Run("percent", func(t *testing.T) {
		begin(t, 50, 1<<28)
		restore := campaign.CollectLess()
		checkSetting(t, "inside", 50, 1<<28)
		restore()
		checkSetting(t, "after", 50, 1<<28)
	})
	t.Run("limit", func(t *testing.T) {
		begin(t, 100, 1<<28)
		restore := campaign.CollectLess()
		checkSetting(t, "inside", 1600, 1<<28)
		restore()
		checkSetting(t, "after", 100, 1<<28)
	})
	t.Run("GOGC", func(t *testing.T) {
		begin(t, 100, math.MaxInt64)
		t.Setenv("GOGC", "100")
		restore := campaign.CollectLess()
		checkSetting(t, "inside", 100, math.MaxInt64)
		restore()
		checkSetting(t, "after", 100, math.MaxInt64)
	})
}
