// Package call represents provider calls as values. Perform makes a call, and Through turns a function that handles
// calls into a provider. Code that observes, rejects, records or forwards calls can therefore be a single function:
//
//	logged := call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
//		log.Print(call.Method(c))
//		return call.Perform(ctx, p, c)
//	})
//
// The set of calls is closed. For each method of engine.Provider and engine.ProviderAdmin, it has one struct; the rules
// are in the comments of these interfaces. It also has one struct for each direct change by a test to a store (see
// Plant).
//
// EncodeCall, DecodeCall, EncodeResult and DecodeResult convert calls and answers to and from JSON, in the format of
// docs/oracle-protocol.md and of recorded logs. A missing required field is an error, and so is an unknown field in a
// call; a result may have fields that the method does not define. Each error gives its place in the value, as in
// "params.metadata.status".
package call
