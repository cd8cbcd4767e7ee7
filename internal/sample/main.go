package sample

import (
	"os"
	"runtime/debug"
	"testing"
)

// Main is the TestMain of packages whose tests make many short runs. It lets the heap grow to five times what is in use
// before it is collected, which saves a third of the processor time. GOGC in the environment stays in force.
func Main(m *testing.M) {
	CollectLess()
	os.Exit(m.Run())
}

// CollectLess sets what Main sets, for packages with a TestMain of their own.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
