// Package orchhost is what runs the code of an orchestration, as that code's context sees it: package engine/orch turns
// each method of a Context into calls of a [Host], and package internal/replay is the host.
//
//	future := host.Schedule(action)
//	result, err := host.Await(future)
package orchhost
