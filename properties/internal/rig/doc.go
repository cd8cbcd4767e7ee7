// Package rig feeds a monitor from a story in text, in a world that the test controls completely. It is for tests.
//
//	got := rig.Story(t, "L01", "L01_bad", "...", monitor.Options{}, nil)
//
// Rig documents the commands.
package rig
