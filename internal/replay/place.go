package replay

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// ours lists the packages with functions that code calls. If such a function panics, the panic's place is in its
// caller.
var ours = []string{"runtime.", "internal/replay.", "engine/orch.", "internal/orchhost.", "internal/asked.", "iter."}

// panicPlace returns where the code panicked, as "orders.refund (orders.go:42)", or "" if the place is unknown. The
// deferred function that recovers must call it.
func panicPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	raised := false
	for {
		f, more := frames.Next()
		name := f.Function[strings.LastIndexByte(f.Function, '/')+1:]
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			raised = raised || strings.Contains(f.Function, "panic")
		case raised && !isOurs(&f):
			return fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

func isOurs(f *runtime.Frame) bool {
	const module = "github.com/durosim/durosim/"
	for _, p := range ours {
		if strings.HasPrefix(strings.TrimPrefix(f.Function, module), p) && !strings.HasSuffix(f.File, "_test.go") {
			return true
		}
	}
	return false
}
