// Package overlap calls one store from several callers at once, and looks for an order of their calls that the contract
// allows. In a test:
//
//	report, err := overlap.Search(undertest.Factory{New: newStore}, overlap.Options{Programs: 1000})
//
// A program is a few calls one after another, followed by two or three concurrent callers. Calls that did not overlap
// keep their order; if no order of the others makes every answer right, the store is not linearizable: two fetches got
// the same item, or a reader saw half of an ack. A call that never ends, because calls wait for each other, is reported
// as a deadlock.
//
// A program is a function of its seed. How its calls overlap depends on the store and the machine, so a seed may not
// find the same mistake again.
package overlap
