package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// Provider is the store as a caller from outside the plan sees it.
func (w *World) Provider(codec engine.Codec, caller observe.Caller) engine.Provider {
	return w.store.Handle(codec, caller)
}
