// Package script parses events and messages that test stories write as words:
//
//	h ActivityScheduled Name=a Input=b
//	b ActivityCompleted ExecutionID=1 ID=2 Result=r
//	d OrchestrationFailed Details=cancelled:why
//
// Only tests import the package.
package script
