// Package answers has the executable specification of a provider judge every answer of the store of a run.
//
// Judge watches the handles of the store. It knows no property of a cluster: only what a provider may answer.
package answers
