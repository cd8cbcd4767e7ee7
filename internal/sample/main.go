package sample

import (
	"os"
	"runtime/debug"
	"testing"
)

// Main is the TestMain of packages whose tests make many short runs. It lets the heap grow to five times the live heap
// before a collection, which saves a third of the processor time. If the environment sets GOGC, that value stays in
// force.
func Main(m *testing.M) {
	CollectLess()
	os.Exit(m.Run())
}

// CollectLess makes the same setting as Main, for packages that have their own TestMain.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
