// Package foreign runs external programs: child processes that exchange lines over their standard input and output, and
// that may be silent, send invalid output, or die at any time. It guarantees that no call waits for them beyond a
// deadline, and that errors describe how they ended. It does not interpret the lines.
//
//	p, err := foreign.Start("./provider", "--serve")
package foreign
