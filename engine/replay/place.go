package replay

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// ours lists the packages whose functions orchestration code may call. If such a function panics, the reported location
// is its caller's.
var ours = []string{"runtime.", "engine/replay.", "engine/orch.", "engine/orchhost.", "engine/asked.", "iter.", "testing."}

// panicPlace returns the location of the code's panic, as in "orders.refund (orders.go:42)", or "" if it is unknown. It
// must be called by the deferred function that recovers.
func panicPlace() string { return placeOf(false) }

// placeOf returns the location of the user's code among the callers or, unless raised is set, among the callers of the
// runtime's panic.
func placeOf(raised bool) string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		name := f.Function[strings.LastIndexByte(f.Function, '/')+1:]
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			raised = raised || strings.Contains(f.Function, "panic") || f.Function == "runtime.Goexit"
		case raised && !isOurs(&f):
			return fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

const module = "github.com/durosim/durosim/"

func isOurs(f *runtime.Frame) bool {
	for _, p := range ours {
		if strings.HasPrefix(strings.TrimPrefix(f.Function, module), p) && !strings.HasSuffix(f.File, "_test.go") {
			return true
		}
	}
	return false
}
