// Package overlap calls one store from several callers at once, and looks for an order of their calls that the contract
// allows. In a test:
//
//	report, err := overlap.Search(undertest.Factory{New: newStore}, overlap.Options{Programs: 1000})
//
// A program is a few calls one after the other, and then two or three callers that go on at the same time. Calls that did
// not overlap keep their order; if no order of the others makes every answer right, the store is not linearizable: two
// fetches were given one item, a reader has seen half an ack. A call that never ends, because others wait for it, is a
// deadlock, and is told as one.
//
// A program is a function of its seed. How its calls overlap is up to the store and the machine, so a seed need not find
// again what it found.
package overlap
