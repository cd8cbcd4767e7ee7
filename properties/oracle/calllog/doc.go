// Package calllog records the calls of a provider, one JSON object per line, and judges such logs by the specification:
//
//	p := calllog.Record(provider, nowMs, file)
//	// … calls of p …
//	calls, err := calllog.Check(file, oracle.Options{})
//
// A line is {"at_ms": …, "method": …, "params": …, "result": …} in the forms of docs/oracle-protocol.md. The store must
// be empty when the log begins, and have one caller at a time.
package calllog
