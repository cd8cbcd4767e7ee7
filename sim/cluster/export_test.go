package cluster

import "github.com/durosim/durosim/engine"

// Provider is the store as a caller from outside the plan sees it.
func (w *World) Provider(codec engine.Codec, caller engine.Caller) engine.Provider {
	return w.store.Handle(codec, caller)
}
