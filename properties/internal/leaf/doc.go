// Package leaf changes a value in one place at a time, for tests that check whether a comparison covers every field.
//
//	leaf.Change(&answer, func(path string) { ... answer differs at path ... })
package leaf
