package memprovider

import "github.com/durosim/durosim/engine"

// provider is a Store as one caller sees it: with the codec of the caller's build, and observed under the caller's
// name. It implements engine.Provider and engine.ProviderAdmin.
//
// It never waits: poll timeouts and contexts are ignored (docs/contract/provider.md#f3). It is not safe for concurrent
// use; a single-threaded store has no other.
type provider struct {
	store   *Store
	codec   engine.Codec
	codecNo int
	caller  engine.Caller
}

var (
	_ engine.Provider      = (*provider)(nil)
	_ engine.ProviderAdmin = (*provider)(nil)
)

// Name is "memprovider".
func (p *provider) Name() string { return "memprovider" }

// Version is the version of this implementation.
func (p *provider) Version() string { return "0.1.0" }

// Admin is the provider itself.
func (p *provider) Admin() engine.ProviderAdmin { return p }
