// Package engine is the vocabulary and the contract: events, work items, versions, filters, errors, the Provider and
// ProviderAdmin interfaces, builds with their codecs, and the observations by which a store can be watched.
//
// A provider author imports this package and nothing else. It knows nothing of simulation: time and chance reach it as
// values. The contract that it spells out in Go is the one of duroxide; where its sources disagree,
// docs/contract-decisions.md says what holds here.
//
// Three relations are defined here once: a filter admits a pin (CapabilityFilter.Admits), a build reads a history
// (Build.Reads), and a node runs an execution if it admits, reads and has the handler. Versions compare as numeric
// triples everywhere (Version.Compare).
package engine
