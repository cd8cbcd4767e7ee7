// Package rig tells a monitor a story in text, in a world of which the test says everything. It is for tests.
//
// Rig documents the commands.
package rig
