// Package conformance asks a storage provider everything that the contract promises: the provider-level cases of
// docs/contract/conformance.md, under their ids.
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Factory{New: func() (*conformance.Store, error) {
//			store, err := mystore.Open(t.TempDir())
//			return &conformance.Store{Provider: store, Close: store.Close}, err
//		}})
//	}
//
// # What a factory says
//
// New makes an empty store that shares nothing with others; a case may ask for two. Whatever else the store can do it
// says in the Store: set the clock, damage a history, wait for work, be called by several at once. A case that needs
// what the store cannot do is skipped, and the skip says what is missing.
//
// # Time
//
// A store whose clock can be set is asked in virtual time, without waiting. Any other is asked in real time, cases in
// parallel; Store.Second says how long a second of a case takes. A case that fails in real time while the machine
// was late says nothing about the provider: it is asked again with longer seconds, and only its last failure counts.
//
// # Cases
//
// They stand in cases/*.txt, as scripts of one call and one expected answer a line (script.go has the language), and in
// Go where calls overlap. An answer that the contract leaves free is matched by all that it allows. Where the reference
// provider differs from the contract the case follows the contract.
//
// # Subsets
//
// A case that needs a method which the provider does not have (Store.Methods, engine.ErrUnsupported, an embedded nil
// interface) is skipped like any other that needs what is not there.
//
// # Limits
//
// A passed suite shows the absence of the mistakes that the cases know. properties/oracle/search judges generated sequences of
// calls by the same contract; a provider should pass both.
package conformance
