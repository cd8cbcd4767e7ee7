// Package shrink makes a failing run small. It takes a concrete plan, in which nothing is left to chance, and leaves out and
// simplifies what it can while the run still fails:
//
//	small, err := shrink.Minimize(shrink.Concrete{Plan: p, Choices: recording}, shrink.Options{Fails: fails})
//	fmt.Print(small.Text())
//
// Options.Fails decides what a failure is: the package runs nothing itself and knows no property. properties.Shrink is
// Minimize with the properties as the judge.
package shrink
