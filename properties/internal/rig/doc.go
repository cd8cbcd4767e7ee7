// Package rig feeds a monitor from a story in text, in a world that the test controls completely. It is for tests.
//
// Rig documents the commands.
package rig
