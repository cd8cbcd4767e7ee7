package foreign

import (
	"os"
	"syscall"
	"unsafe"
)

// unread returns how many bytes of a pipe nobody has read yet, or -1 if that is unknown.
func unread(pipe *os.File) (bytes int) {
	bytes = -1
	raw, err := pipe.SyscallConn()
	if err != nil {
		return bytes
	}
	_ = raw.Control(func(fd uintptr) {
		var n int32
		if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&n))); failed == 0 {
			bytes = int(n)
		}
	})
	return bytes
}
