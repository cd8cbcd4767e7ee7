// Package calllog records the calls of a provider, one JSON object a line, and judges such logs by the specification:
//
//	p := calllog.Record(provider, nowMs, file)
//	// … calls of p …
//	calls, err := calllog.Check(file, oracle.Options{})
//
// A line is {"at_ms": …, "method": …, "params": …, "result": …} in the forms of docs/oracle-protocol.md. A log covers a
// store that was empty when the log began, and one caller at a time.
package calllog
