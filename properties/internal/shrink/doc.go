// Package shrink makes a failing run small. It takes a concrete plan, in which nothing is random, and removes and
// simplifies parts as long as the run still fails:
//
//	small, err := shrink.Minimize(shrink.Concrete{Plan: p, Choices: recording}, shrink.Options{Fails: fails})
//	fmt.Print(small.Text())
//
// Options.Fails decides what a failure is: the package runs nothing itself and knows no properties. properties.Shrink
// calls Minimize with the properties as the judge.
package shrink
