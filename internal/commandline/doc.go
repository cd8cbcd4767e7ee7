// Package commandline writes command lines that can be pasted into a shell.
//
//	line := commandline.Join(append(commandline.Self(), "replay", "--seed", "7", "my plan.txt")...)
//	// go run ./cmd/simrun replay --seed 7 'my plan.txt'
//
// Every report of a failure ends with such a line. It works in the directory in which the program was started, however
// the program was started.
package commandline
