// Package calllog records a provider's calls, one JSON object per line, and judges such logs against the specification:
//
//	p := calllog.Record(provider, nowMs, file)
//	// … calls of p …
//	calls, err := calllog.Check(file, oracle.Options{})
//
// A line is {"at_ms": …, "method": …, "params": …, "result": …}, in the forms that docs/oracle-protocol.md defines. The
// store must be empty when the log begins, and calls must not overlap.
package calllog
