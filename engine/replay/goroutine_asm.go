//go:build amd64 || 386 || arm64

package replay

// goroutine returns an identifier that is unique among live goroutines. It serves only to detect misuse.
func goroutine() uintptr
