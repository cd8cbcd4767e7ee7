// Package export turns a stored run into what others can use without durosim's command: a Go test that holds the whole run,
// and the provider calls of the run, one a line, up to the first answer that the contract does not allow.
package export
