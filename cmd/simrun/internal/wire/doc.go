// Package wire defines the JSON-RPC 2.0 form of engine.Provider and engine.ProviderAdmin: method names, parameters,
// results and error codes. A Server serves a store, and a Client is an engine.Provider that calls a server.
//
//	err := (&wire.Server{New: newStore}).Serve(ctx, os.Stdin, os.Stdout)
//	client, err := wire.Dial(ctx, foreign.NewLines(in, out), wire.ClientOptions{}) // an engine.Provider
//
// Parameters and results are the contract's own JSON, field by field. docs/oracle-protocol.md describes the protocol
// for readers who do not know Go. The package makes no decisions on a provider's behalf, and it does not know what is
// at the other end.
//
// NewStore makes the in-memory provider a store that programs in other languages can use, damage and make fail. For the
// same options and the same calls, a store without Live gives the same answers.
package wire
