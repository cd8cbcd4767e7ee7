// Package conformance tests whether a storage provider keeps everything that the contract promises. It runs the
// provider-level cases of docs/contract/conformance.md under their ids.
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Factory{New: func() (*conformance.Store, error) {
//			store, err := mystore.Open(t.TempDir())
//			return &conformance.Store{Provider: store, Close: store.Close}, err
//		}})
//	}
//
// # What a factory provides
//
// New makes an empty store that shares nothing with other stores; a case may ask for two. The Store says what else the
// store can do: set its clock, damage a history, wait for work, take concurrent calls. If a case needs something that
// the store cannot do, it is skipped, and the skip message names what is missing.
//
// # Time
//
// If a store's clock can be set, it is tested in virtual time, without waiting. Any other store is tested in real time,
// with cases running in parallel; Store.Second sets how long a second of a case takes. A failure in real time on a slow
// machine proves nothing about the provider, so the case runs again with longer seconds, and only its last failure
// counts.
//
// # Cases
//
// Most cases are scripts in cases/*.txt, with one call and one expected answer per line (script.go describes the
// language). Cases in which calls overlap are written in Go. Where the contract leaves an answer free, a case accepts
// every answer that it allows. Where the reference provider deviates from the contract, the case follows the contract.
//
// # Scripts of your own
//
// A Script plays lines in the same language on a store of yours and returns the answers that it gave, for tests that ask
// more of it than the contract: exact instants, or what its storage did, by operations that the test adds.
//
// # Subsets
//
// If a case needs a method that the provider does not have (Store.Methods, engine.ErrUnsupported, an embedded nil
// interface), it is skipped like any other case whose needs are not met.
//
// # Limits
//
// Passing the suite shows only that the provider does not make the mistakes that the cases test for. Package
// properties/oracle/search judges generated sequences of calls against the same contract; a provider should pass both.
package conformance
