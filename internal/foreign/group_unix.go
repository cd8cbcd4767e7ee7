//go:build unix

package foreign

import (
	"os/exec"
	"syscall"
)

// alone gives the child a process group of its own: a terminal's Ctrl-C is then for the caller, who decides what becomes
// of the child, and not for both at once.
func alone(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills the child, and the processes that it has started in its group.
func kill(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
