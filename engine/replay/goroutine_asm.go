//go:build amd64 || 386 || arm64

package replay

// goroutine identifies the calling goroutine among those that live. It decides nothing but whether a call is misuse.
func goroutine() uintptr
