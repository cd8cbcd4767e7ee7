// Package inmemory makes stores of memprovider, in virtual time, as stores under test, with all that a test can do to one:
// damage stored bytes, and fail an ack before each of its steps. The stores share nothing.
//
//	factory := inmemory.Factory{}.UnderTest()
//	report, err := search.Search(factory, search.Options{Sequences: 400})
package inmemory
