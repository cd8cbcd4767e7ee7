// Package rig has what the tests of several checkers share: a world that the test controls, events and messages written
// as words, and values changed in one place at a time. Only tests import it.
//
//	rig.Change(&answer, func(path string) { ... answer differs at path ... })
//
// [Event], [Item] and [Set] read words as stories have them:
//
//	h ActivityScheduled Name=a Input=b
//	b ActivityCompleted ExecutionID=1 ID=2 Result=r
//	d OrchestrationFailed Details=cancelled:why
//
// Where a story has room for a single word only, the same is written as `ActivityScheduled,Name:a,Input:b`.
package rig
