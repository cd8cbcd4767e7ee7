// Package coded judges how a turn treats its code: it is the part of the specification of a turn
// (properties/oracle/turn) that needs the calls of the code. It gets the requests and answers of the code
// (internal/asked), and knows nothing else about the code or about the engine that ran it.
//
//	var c coded.Checker
//	for _, objection := range c.Check(turn, calls) { ... }
//
// The requests of the code correspond to its events in history and delta, one to one and in the same order, with the
// same values. The answers that the code got are those that these events record. The turn records and sends what the
// code dropped, how it ended, and the versions that it named.
package coded
