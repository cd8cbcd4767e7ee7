//go:build amd64 || 386 || arm64

package replay

// goroutine identifies the calling goroutine among the live ones. It is used only to detect misuse.
func goroutine() uintptr
