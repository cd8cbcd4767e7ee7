// Package shrink makes a failing run small. It takes a concrete plan together with the choices of its run, so
// that nothing is random, and removes and simplifies parts for as long as the run still fails:
//
//	small, err := shrink.Minimize(shrink.Concrete{Plan: p, Choices: recording}, shrink.Options{Fails: fails})
//	fmt.Print(small.Text())
//
// Options.Fails decides what counts as a failure, because the package itself does not run anything or know any
// properties. durosim.Shrink calls Minimize with the properties as the judge.
package shrink
