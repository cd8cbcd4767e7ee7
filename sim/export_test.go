package sim

// Replayer is the chooser that Replay returns, with methods for tests.
type Replayer = replayer

func NewReplayer(rec *Recording) *Replayer { return newReplayer(rec) }
