// Package simtest has what the tests of sim and of its kernel share: labels to make keys with, and a check of panics. Only
// tests import it.
//
//	simtest.MustPanic(t, "before 1970", func() { k.At(-1, 0) })
package simtest
