// Package asked records the calls that orchestration code makes on its host during a turn, and the answers to them. An
// independent checker of the turn needs to know nothing else about the code. A Recorder sits between the code and the
// engine that computes the turn.
//
//	var r asked.Recorder
//	out, err := replay.Turn(replay.Input{Handler: r.Run(handler), Watcher: &r, ...})
//	calls := r.Calls()
package asked
