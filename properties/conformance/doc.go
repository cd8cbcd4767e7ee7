// Package conformance tests a storage provider against everything that the contract promises: it runs the provider-level
// cases of docs/contract/conformance.md, under their ids.
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
// New makes an empty store that shares nothing with others; a case may ask for two. The Store lists what else the store
// can do: set the clock, damage a history, wait for work, be called concurrently. A case that needs something the store
// cannot do is skipped, and the skip names what is missing.
//
// # Time
//
// A store whose clock can be set is tested in virtual time, without waiting. Any other store is tested in real time,
// with cases in parallel; Store.Second sets how long a second of a case takes. A case that fails in real time on a slow
// machine proves nothing about the provider: it runs again with longer seconds, and only its last failure counts.
//
// # Cases
//
// The cases are in cases/*.txt, as scripts with one call and one expected answer per line (script.go describes the
// language), and in Go where calls overlap. Where the contract leaves an answer free, a case accepts every answer it
// allows. Where the reference provider differs from the contract, the case follows the contract.
//
// # Subsets
//
// A case that needs a method the provider does not have (Store.Methods, engine.ErrUnsupported, an embedded nil
// interface) is skipped like any other case whose needs are not met.
//
// # Limits
//
// Passing the suite shows only that the provider does not make the mistakes that the cases test for.
// properties/oracle/search judges generated sequences of calls by the same contract; a provider should pass both.
package conformance
