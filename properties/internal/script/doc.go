// Package script parses events and messages that test stories write as words:
//
//	h ActivityScheduled Name=a Input=b
//	b ActivityCompleted ExecutionID=1 ID=2 Result=r
//	d OrchestrationFailed Details=cancelled:why
//
// Where a story has room for a single word only, the same is written as `ActivityScheduled,Name:a,Input:b`.
//
// Only tests import the package.
package script
