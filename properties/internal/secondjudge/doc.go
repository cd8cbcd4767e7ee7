// Package secondjudge checks every answer of a run's store, and its rows after each call, against the executable specification of a provider.
//
//	judge := secondjudge.New(run)
//	provider = judge.Watch(provider, codec) // a handle whose answers are judged
//
// Judge watches the store's handles. What a provider may answer is stated in package oracle; the tables clauses and columns
// say to which property a clause or a column of a row belongs.
package secondjudge
