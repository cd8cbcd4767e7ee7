//go:build amd64 || 386 || arm64

package replay

// goroutine identifies the calling goroutine among the live ones. Callers use it only to detect misuse.
func goroutine() uintptr
