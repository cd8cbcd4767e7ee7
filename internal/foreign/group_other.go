//go:build !unix

package foreign

import "os/exec"

// alone does nothing, because there are no process groups here.
func alone(*exec.Cmd) {}

func kill(c *exec.Cmd) error { return c.Process.Kill() }
