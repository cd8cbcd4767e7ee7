// Package call has the calls of a provider as values: Perform makes one, Through makes a provider of a function that
// gets them. So whatever has to see, refuse, record or carry calls is one function:
//
//	logged := call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
//		log.Print(call.Method(c))
//		return call.Perform(ctx, p, c)
//	})
//
// The set of calls is closed: one struct for each method of engine.Provider and engine.ProviderAdmin, which have the rules.
package call
