// Package rig tells a monitor a story in text, in a world that the test controls completely. It is for tests.
//
// Rig documents the commands.
package rig
