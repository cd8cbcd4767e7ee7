// Package coded judges how a turn treats its code. It is the part of the turn's specification (properties/oracle/turn)
// that needs to know the calls of the code. It gets the code's requests and the answers to them (internal/asked), and
// knows nothing else about the code or the engine that ran it.
//
//	var c coded.Checker
//	for _, objection := range c.Check(turn, calls) { ... }
//
// The code's requests must correspond one to one with its events in history and delta, in the same order and with the
// same values. The code must get the answers that these events record. The turn must record and send what the code
// dropped, how it ended, and the versions that it named.
package coded
