// Package rig feeds a monitor from a story written as text, in a world that the test controls completely. Only tests
// use it.
//
//	got := rig.Story(t, "L01", "L01_bad", "...", monitor.Options{}, nil)
//
// The commands are documented at Rig.
package rig
