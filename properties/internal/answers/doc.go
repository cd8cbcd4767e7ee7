// Package answers has the executable specification of a provider judge every answer of the store of a run.
//
//	judge := answers.New(run)
//	provider = judge.Watch(provider, codec) // a handle whose answers are judged
//
// Judge watches the handles of the store. It does not know the properties of a cluster, only which answers a provider
// may give.
package answers
