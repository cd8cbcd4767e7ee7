// Package storerules holds the rules of package memprovider. Each rule is a value that a planted bug from package
// faults can replace:
//
//	rules := storerules.DefaultRules()
//	rules.AckIsAtomic = false
//	store := memprovider.New(memprovider.Options{Rules: rules})
//
// A store takes each rule only from this table. Rules keep no state between calls, except for state that a planted bug
// captures in its own function.
package storerules
