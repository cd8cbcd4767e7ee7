package sample

import (
	"os"
	"runtime/debug"
	"testing"
)

// Main is the TestMain function for packages whose tests make many short runs. It lets the heap grow to five times the
// size of the live heap before a collection, which saves a third of the processor time. If GOGC is set, Main leaves it
// in effect.
func Main(m *testing.M) {
	CollectLess()
	os.Exit(m.Run())
}

// CollectLess has the same effect on garbage collection as Main. It is for packages with their own TestMain.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
