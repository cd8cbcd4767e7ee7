// Package snapshot reads what a cluster's store holds, so that a run can begin where that cluster is, and stands in for the
// orchestrations that durosim does not have.
//
//	s, err := snapshot.Read(os.DirFS("."), "orders.jsonl", engine.ShippedBuilds())
//	err = s.StandIns(registry, true) // for the orchestrations in it
//
// An export is a file of JSON lines, or a directory of such files (*.jsonl), which are read in the order of their names.
// Each line is an object that names its table, with the columns of docs/contract/provider.md#p3.1:
//
//	{"table":"store","taken_at_ms":1763800000000,"has_end":true}
//	{"table":"instances","instance_id":"order-1","orchestration_name":"Order","orchestration_version":"1.0.0","current_execution_id":1}
//	{"table":"executions","instance_id":"order-1","execution_id":1,"status":"Running","pinned_version":"0.1.26"}
//	{"table":"history","instance_id":"order-1","execution_id":1,"event_data":{"event_id":1, ...}}
//	{"table":"orchestrator_queue","visible_at_ms":1763800001000,"work_item":{"TimerFired":{ ... }}}
//	{"table":"worker_queue","work_item":{"ActivityExecute":{ ... }}}
//	{"table":"end","lines":6}
//
// The end says how many lines there were, so that a file that was cut off is noticed; a file may do without it if it does
// not announce it by has_end. Keys and custom status, which route nothing, are not taken over. An event alone, and a work
// item alone, are lines, too. Rows of instances and executions may be missing: histories say what they would. What cannot
// be used is a Problem with file, line and field; everything else is read all the same.
//
// An export has no code. StandIns repeats what a history says that its orchestration has asked for, then waits for all that
// is open, and ends; an instance that continued as new goes on to do so, a few times. Work that begins anew does what the
// longest history of its orchestration did. So pins, kinds, queues and waits are those of the export; what the code would
// do next is not known.
package snapshot
