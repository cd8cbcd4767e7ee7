// Package wire owns the JSON-RPC 2.0 form of engine.Provider and engine.ProviderAdmin: the names of the methods, their
// parameters and results, field by field in the contract's own JSON, and the error codes. docs/oracle-protocol.md
// describes it for readers who do not know Go. A Server offers a store, and a Client is an engine.Provider that asks one.
//
//	err := (&wire.Server{New: newStore}).Serve(ctx, os.Stdin, os.Stdout)
//	client, err := wire.Dial(ctx, channel.Line(in, out), wire.ClientOptions{}) // an engine.Provider
//
// It makes none of a provider's decisions, and does not know who is at the other end.
package wire
