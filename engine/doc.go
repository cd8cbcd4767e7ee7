// Package engine is the vocabulary of a durable-execution runtime and the contract of its storage. To write a provider,
// implement Provider; to hold one against the contract, pass it to properties/conformance:
//
//	type Store struct{ db *sql.DB }
//	var _ engine.Provider = (*Store)(nil)
//
// The package has events, work items, versions, filters, errors, builds with their codecs, and the observations by which
// a store can be watched. It knows nothing of simulation: time and chance reach it as values. The contract that it spells
// out in Go is the one of duroxide; where its sources disagree, docs/contract-decisions.md says what holds here.
//
// Three relations are defined here once: a filter admits a pin (CapabilityFilter.Admits), a build reads a history
// (Build.Reads), and a node runs an execution if it admits, reads and has the handler. Versions compare as numeric
// triples everywhere (Version.Compare).
package engine
