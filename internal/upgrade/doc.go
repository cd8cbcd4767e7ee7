// Package upgrade tries an operator's upgrade before the operator does it.
//
// Preflight holds the steps against what the store holds: which instances no node can take, and which a node takes and
// cannot read, from which step on. Try runs the upgrade for many seeds, and also every beginning of it: stopping after each
// step, and rolling back from there, which names the point of no return. Orders tries the steps in other orders.
//
// Work that nobody admits is stranded: it waits until a node that admits it is back. Every run ends with relief
// that widens all nodes, so that it shows what that would do to stranded work: end it as usual, or poison it. It warns of
// the remedy, which releases forbid since 0.1.32.
package upgrade
