// Package script reads events and messages that the stories of tests write down, word by word:
//
//	h ActivityScheduled Name=a Input=b
//	b ActivityCompleted ExecutionID=1 ID=2 Result=r
//	d OrchestrationFailed Details=cancelled:why
//
// Only tests import the package.
package script
