// Package orchhost defines the host of orchestration code, as the code's context sees it. Package engine/orch turns
// each method of a Context into calls to a [Host]. Package internal/replay implements the host.
//
//	future := host.Schedule(action)
//	result, err := host.Await(future)
package orchhost
