// Package check defines checkers and what they are given: a Run, with the world, the model and the place to report to.
//
// Monitor hands each observation, record and end of a step to the checkers that want it. Facts are events that checkers
// notice along the way and that somebody may want to count. The package knows no property.
package check
