// Package inmemory makes memprovider stores under test, in virtual time. The stores support everything that a test can
// do to a store, including damaging stored bytes and making an ack fail before any of its steps. They share nothing.
//
//	factory := inmemory.Factory{}.UnderTest()
//	report, err := search.Search(factory, search.Options{Sequences: 400})
package inmemory
