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
// The package defines three relations that stores and nodes rely on: a filter admits a pin (CapabilityFilter.Admits), a
// build reads a history (Build.Reads), and a node runs an execution if it admits, reads and has the handler. Versions
// compare as numeric triples everywhere (Version.Compare). The checkers define the relations again, independently.
package engine
