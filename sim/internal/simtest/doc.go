// Package simtest has helpers for the tests of sim and its kernel: labels for keys, and a check for panics. Only tests
// import it.
//
//	simtest.MustPanic(t, "before 1970", func() { k.At(-1, 0) })
package simtest
