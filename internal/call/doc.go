// Package call represents the calls of a provider as values: Perform makes a call, Through turns a function that handles
// calls into a provider. Code that observes, refuses, records or forwards calls is therefore a single function:
//
//	logged := call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
//		log.Print(call.Method(c))
//		return call.Perform(ctx, p, c)
//	})
//
// The set of calls is closed: one struct for each method of engine.Provider and engine.ProviderAdmin, whose
// comments state the rules, and one for each change that a test makes to a store directly (see Plant).
package call
