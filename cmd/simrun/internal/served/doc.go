// Package served makes the in-memory provider a store that programs in other languages can use, damage and make fail.
//
//	store := served.New(served.Options{Faults: faults.Light(), Seed: 7})
//
// For the same options and the same calls, a store without Live gives the same answers.
package served
