// Package asked records the calls that orchestration code makes of its host in a turn, and the answers: all that an
// independent judge of the turn must know of the code. It stands between the code and the engine that computes the turn.
//
//	var r asked.Recorder
//	out, err := replay.Turn(replay.Input{Handler: r.Run(handler), Watcher: &r, ...})
//	calls := r.Calls()
package asked
