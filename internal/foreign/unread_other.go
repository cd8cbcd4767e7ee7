//go:build !linux

package foreign

import "os"

func unread(*os.File) int { return -1 }
