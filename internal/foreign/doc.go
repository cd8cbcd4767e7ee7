// Package foreign runs programs that are not ours: child processes that exchange lines over their standard input and
// output, and that may be silent, talk nonsense, or die at any moment. It guarantees that nobody waits for them beyond
// a deadline, and that an error describes what became of them. It does not know what the lines mean.
//
//	p, err := foreign.Start("./provider", "--serve")
package foreign
