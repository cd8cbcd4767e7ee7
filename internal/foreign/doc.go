// Package foreign runs external programs as child processes that exchange lines over their standard input and output.
// Such a program may be silent, send invalid output, or die at any time. The package guarantees that no call waits
// beyond a deadline, and that errors describe how the program ended. It does not interpret the lines.
//
//	p, err := foreign.Start("./provider", "--serve")
package foreign
