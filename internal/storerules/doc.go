// Package storerules has the rules of package memprovider, each as a value that a planted bug of package faults replaces:
//
//	rules := storerules.Default()
//	rules.AckIsAtomic = false
//	store := memprovider.New(memprovider.Options{Rules: rules})
//
// A store asks each rule at one place. Rules keep nothing between two calls, but for what a planted bug keeps in a
// function of its own.
package storerules
