// Package snapshot reads the contents of a cluster's store, so that a run can begin in the state of that cluster, and
// provides stand-ins for orchestrations that durosim does not have.
//
//	s, err := snapshot.Read(os.DirFS("."), "orders.jsonl", engine.ShippedBuilds())
//	err = s.StandIns(registry, true) // for the orchestrations in it
//
// An export is a file of JSON lines, or a directory of such files (*.jsonl). Read reads the files in the order of their
// names. Each line is an object with the name of its table and the columns of docs/contract/provider.md#p3.1:
//
//	{"table":"store","taken_at_ms":1763800000000,"has_end":true}
//	{"table":"instances","instance_id":"order-1","orchestration_name":"Order","orchestration_version":"1.0.0","current_execution_id":1}
//	{"table":"executions","instance_id":"order-1","execution_id":1,"status":"Running","pinned_version":"0.1.26"}
//	{"table":"history","instance_id":"order-1","execution_id":1,"event_data":{"event_id":1, ...}}
//	{"table":"orchestrator_queue","visible_at_ms":1763800001000,"work_item":{"TimerFired":{ ... }}}
//	{"table":"worker_queue","work_item":{"ActivityExecute":{ ... }}}
//	{"table":"end","lines":6}
//
// The end line has the number of lines, so that Read detects a truncated file. A file without has_end may omit it. Read
// ignores keys and custom status, because they route nothing. A line may also be only an event or only a work item.
// Rows of instances and executions may be missing, because histories have the same information. Read reports each
// unusable part as a Problem with file, line and field, and reads everything else.
//
// An export contains no code. A stand-in repeats the calls in the history of its instance, waits for all open calls,
// and ends. An instance that continued as new does so a few more times. A new instance makes the calls of the longest
// history of its orchestration. Pins, kinds, queues and waits are therefore those of the export, but the stand-ins do
// not know what the code would do next.
package snapshot
