package undertest

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/unfinished"
)

// narrow restricts the store's provider to its contract: the wrapped provider returns engine.ErrUnsupported for every
// method that the provider lacks or that the contract does not have. narrow returns an error if Store.Methods has a
// name that is not a method.
func (s *Store) narrow(asked *engine.Contract) error {
	known := map[string]bool{}
	for _, c := range call.All() {
		known[call.Method(c)] = call.Kind(c) != observe.CallNone
	}
	for _, m := range s.Methods {
		if !known[m] {
			return fmt.Errorf("Store.Methods: no method of a provider is named %q", m)
		}
	}
	s.asked = asked
	s.Provider, s.lacks = unfinished.Provider(s.Provider, func(c call.Call) bool {
		_, stats := c.(call.GetInstanceStats)
		return stats && asked != nil && !asked.Stats || s.Methods != nil && !slices.Contains(s.Methods, call.Method(c))
	})
	return nil
}

// Lacks returns the methods that are known to be missing before any call is made.
func (s *Store) Lacks() []string { return s.lacks }
