package memprovider

import (
	"github.com/durosim/durosim/engine"
)

// provider is one caller's handle to a Store. It uses the codec of the caller's build, and its observations name the
// caller. It implements engine.Provider and engine.ProviderAdmin.
//
// It never waits: poll timeouts and contexts are ignored (docs/contract/provider.md#f3). Like the store, it is not safe
// for concurrent use.
type provider struct {
	store   *Store
	codec   engine.Codec
	codecNo int
	caller  Caller
}

var (
	_ engine.Provider      = (*provider)(nil)
	_ engine.ProviderAdmin = (*provider)(nil)
)

// Name returns "memprovider".
func (p *provider) Name() string { return "memprovider" }

// Version returns the version of this implementation.
func (p *provider) Version() string { return "0.1.0" }

// Admin returns the provider itself.
func (p *provider) Admin() engine.ProviderAdmin { return p }
