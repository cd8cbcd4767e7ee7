package memprovider

import "github.com/durosim/durosim/engine"

// Provider is a Store as one caller sees it: with the codec of the caller's build, and observed under the caller's
// name. It implements engine.Provider and engine.ProviderAdmin.
//
// It never waits: poll timeouts and contexts are ignored (docs/contract/provider.md#f3). It is not safe for concurrent
// use; a single-threaded store has no other.
type Provider struct {
	store   *Store
	codec   engine.Codec
	codecNo int
	caller  engine.Caller
}

var (
	_ engine.Provider      = (*Provider)(nil)
	_ engine.ProviderAdmin = (*Provider)(nil)
)

// Name is "memprovider".
func (p *Provider) Name() string { return "memprovider" }

// Version is the version of this implementation.
func (p *Provider) Version() string { return "0.1.0" }

// Admin is the provider itself.
func (p *Provider) Admin() engine.ProviderAdmin { return p }

// Store is the store behind the handle.
func (p *Provider) Store() *Store { return p.store }
