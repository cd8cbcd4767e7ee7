// Package commandline builds command lines that can be pasted into a shell.
//
//	line := commandline.Join(append(commandline.Self(), "replay", "--seed", "7", "my plan.txt")...)
//	// go run ./cmd/simrun replay --seed 7 'my plan.txt'
//
// Every failure report ends with such a line. However the program was started, the line works in the directory in which
// it was started.
package commandline
