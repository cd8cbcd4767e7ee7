// Package inmemory makes memprovider stores in virtual time for use as stores under test. They support all
// interventions of a test: it can damage stored bytes and make an ack fail before any of its steps. The stores share
// nothing.
//
//	factory := inmemory.Factory{}.UnderTest()
//	report, err := search.Search(factory, search.Options{Sequences: 400})
package inmemory
