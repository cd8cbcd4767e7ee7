// Package track tracks nodes, deliveries, decisions and phases. This is the state, beyond the model, that liveness,
// coverage and expectations share.
//
//	state := track.New(m.Run) // m is a check.Monitor
//
// The state is updated before the packages that use it see anything. It reports facts to its listeners as they happen,
// without knowing who they are.
package track
