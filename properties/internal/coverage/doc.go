// Package coverage counts the points that a run reaches: named states that a campaign should see.
//
// Counter receives facts from the checkers and from package track, and judges nothing.
package coverage
