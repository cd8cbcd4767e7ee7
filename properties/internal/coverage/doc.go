// Package coverage counts the points that a run reaches: named states that a campaign should see.
//
// Counter is told of facts by the checkers and by package track, and judges nothing.
package coverage
