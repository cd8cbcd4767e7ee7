// Package track follows nodes, deliveries, decisions and phases: the state, beyond the model, that liveness, coverage
// and expectations share.
//
//	state := track.New(m.Run) // m is a check.Monitor
//
// State is updated before these see anything. It reports facts to its listeners as they happen, and does not know who
// they are.
package track
