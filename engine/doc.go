// Package engine defines the vocabulary of a durable-execution runtime and the contract of its storage. To write a
// provider, implement Provider; to check it against the contract, pass it to properties/conformance:
//
//	type Store struct{ db *sql.DB }
//	var _ engine.Provider = (*Store)(nil)
//
// The package defines events, work items, versions, filters, errors, and builds with their codecs. It knows nothing about
// simulation: time and randomness reach it as values. The contract that it states in Go is duroxide's; where the sources
// of that contract disagree, docs/contract-decisions.md records the decision.
//
// The package states three relations, by which stores and nodes go: a filter admits a pin (CapabilityFilter.Admits), a
// build reads a history (Build.Reads), and a node runs an execution if it admits, reads and has the handler. Versions
// compare as numeric triples everywhere (Version.Compare). What judges stores and nodes states the relations again, in its
// own words.
package engine
