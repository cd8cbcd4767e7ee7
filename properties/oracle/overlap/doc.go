// Package overlap makes several concurrent callers call one store, and looks for an order of their calls that the
// contract allows. In a test:
//
//	report, err := overlap.Search(undertest.Factory{New: newStore}, overlap.Options{Programs: 1000})
//
// A program is a short sequence of calls, followed by two or three concurrent callers. Calls that did not overlap keep
// their order. If no order of the others makes every answer right, the store is not linearizable: for example, two
// fetches got the same item, or a reader saw half an ack. If a call never ends because calls wait for each other, it is
// reported as a deadlock.
//
// A program depends only on its seed. How its calls overlap depends on the store and the machine, so a seed may not
// find the same mistake again.
package overlap
