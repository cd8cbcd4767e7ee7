// Package secondjudge checks every answer of a run's store, and its rows after each call, against the executable specification of a provider.
//
//	judge := secondjudge.New(run)
//	provider = judge.Watch(provider, codec) // a handle whose answers are judged
//
// Judge watches the store's handles. It knows which answers a provider may give, but not the properties of a cluster.
package secondjudge
