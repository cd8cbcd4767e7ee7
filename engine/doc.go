// Package engine defines the vocabulary of a durable-execution runtime and the contract of its storage. To write a
// provider, implement Provider; to check it against the contract, pass it to properties/conformance:
//
//	type Store struct{ db *sql.DB }
//	var _ engine.Provider = (*Store)(nil)
//
// The package defines events, work items, versions, filters, errors, and builds with their codecs. It does not depend
// on the simulation: callers pass in time and randomness as values. The contract is duroxide's, expressed in Go. Where
// the sources of that contract disagree, docs/contract-decisions.md records which one we follow.
//
// Stores and nodes rely on three relations defined here: a filter admits a pin (CapabilityFilter.Admits), a build reads
// a history (Build.Reads), and a node runs an execution if it admits it, reads it and has its handler. Versions always
// compare as numeric triples (Version.Compare). The checkers define these relations a second time, independently of
// this package.
package engine
