//go:build !(amd64 || 386 || arm64)

package replay

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutine returns an identifier that is unique among live goroutines. It serves only to detect misuse.
func goroutine() uintptr {
	var trace [64]byte
	text := bytes.TrimPrefix(trace[:runtime.Stack(trace[:], false)], []byte("goroutine "))
	id, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil {
		panic("replay: a stack trace does not begin with the goroutine's number")
	}
	return uintptr(n)
}
