// Package storerules holds the rules of package memprovider, each as a value that a planted bug of package faults can
// replace:
//
//	rules := storerules.Default()
//	rules.AckIsAtomic = false
//	store := memprovider.New(memprovider.Options{Rules: rules})
//
// A store takes each rule from this table alone, wherever it needs it. Rules keep no state between calls, except what a
// planted bug keeps in a function of its own.
package storerules
