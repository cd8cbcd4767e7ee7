// Package check is what a checker is and what it is given: a Run, with the world, the model and the place to report to.
//
// Monitor hands each observation, record and end of a step to the checkers that want it. Facts are what checkers notice
// on their way and somebody may want to count. The package knows no property.
package check
