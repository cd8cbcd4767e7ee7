// Package liveness checks that everything that must happen does, within a bound: the L properties.
//
// Bounds are computed from the options of the nodes at hand and from actual backoffs; a message that reports a violation
// shows the sum with its terms. Obligations are looked at when the world asks what is open, and at the end of each phase.
package liveness
