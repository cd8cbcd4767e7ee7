// Package oracle is the executable specification of a provider, written from contract/provider.md alone. It takes a
// call, its answer and its time, and says whether the contract allows the answer, and if not, what it would have allowed.
package oracle
