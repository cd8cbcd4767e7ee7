// Package storerules holds the rules of package memprovider, each as a value that a planted bug of package faults can
// replace:
//
//	rules := storerules.Default()
//	rules.AckIsAtomic = false
//	store := memprovider.New(memprovider.Options{Rules: rules})
//
// A store looks up each rule in this table wherever it needs it, and has no other source. Rules keep no state between
// calls, except for state that a planted bug captures in its own function.
package storerules
