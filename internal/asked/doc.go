// Package asked records what orchestration code asks of its host in a turn, and what it is told: what an independent judge
// of the turn has to know of the code. It stands between the code and whatever computes the turn.
//
//	var r asked.Recorder
//	out, err := replay.Turn(replay.Input{Handler: r.Run(handler), Watcher: &r, ...})
//	calls := r.Calls()
package asked
