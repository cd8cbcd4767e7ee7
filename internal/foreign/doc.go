// Package foreign owns programs that are not ours: child processes that are talked to over their standard input and
// output, line by line, and that may be silent, talk nonsense, or die at any moment. It promises that nobody waits for
// them longer than a deadline, and that an error says what became of them. It does not know what the lines mean.
package foreign
