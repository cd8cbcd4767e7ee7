// Package orchhost defines the host on which orchestration code runs, as seen by the code's context. Package
// engine/orch turns each method of a Context into calls to a [Host], and engine/replay implements the Host.
//
//	future := host.Schedule(action)
//	result, err := host.Await(future)
package orchhost
