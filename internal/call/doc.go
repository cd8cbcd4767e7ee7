// Package call represents provider calls as values. Perform makes a call, and Through turns a function that handles
// calls into a provider. Code that observes, rejects, records or forwards calls can therefore be a single function:
//
//	logged := call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
//		log.Print(call.Method(c))
//		return call.Perform(ctx, p, c)
//	})
//
// The set of calls is closed. It has one struct for each method of engine.Provider and engine.ProviderAdmin, whose
// comments state the rules, and one for each change that a test makes directly to a store (see Plant).
package call
