// Package rig has what the tests of several checkers share: a world that the test controls, and values changed in one
// place at a time. Only tests import it.
//
//	rig.Change(&answer, func(path string) { ... answer differs at path ... })
package rig
