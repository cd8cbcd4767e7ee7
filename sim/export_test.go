package sim

// Replayer is what Replay returns, with what only tests ask it.
type Replayer = replayer

func NewReplayer(rec *Recording) *Replayer { return newReplayer(rec) }
