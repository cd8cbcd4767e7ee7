// Package upgrade simulates an upgrade of a cluster, from an export of its store, before an operator performs it.
//
//	report, err := upgrade.Try(upgrade.Config{Scenario: s, Snapshot: shot, Builds: builds, First: 1, Seeds: 100})
//	fmt.Print(report.Preflight(), report.Text())
//
// Preflight checks the steps against the contents of the store. For each step, it reports the instances that no node
// admits, and those that a node admits but cannot read. Try runs the upgrade with many seeds. To find the point of no
// return, it also stops after each step and rolls back from there: variant.go makes these plans, and Report.run
// (report.go) finds the point. TryOrders tries the steps in other orders (orders.go), TryProcedures other procedures
// (rollout.go makes their plans). Windows says what differs while two builds run side by side (windows.go).
//
// Work that no node admits is stranded: it waits until a node that admits it is back. Every run ends with rescue, which
// starts a node of the pinned build or a newer one. That node takes no work above its own build. Rescue thus reveals
// which stranded work no build in the plan can take.
//
// # Exports
//
// Read reads an export of a cluster's store, so that a run can start from that cluster's state, and Snapshot.StandIns
// provides stand-ins for orchestrations that durosim does not have.
//
// An export is a file of JSON lines or a directory of such files (*.jsonl), which Read reads in name order. Each line
// is an object with a table name and the columns from docs/contract/provider.md#p3.1:
//
//	{"table":"store","taken_at_ms":1763800000000,"has_end":true}
//	{"table":"instances","instance_id":"order-1","orchestration_name":"Order","orchestration_version":"1.0.0","current_execution_id":1}
//	{"table":"executions","instance_id":"order-1","execution_id":1,"status":"Running","pinned_version":"0.1.26"}
//	{"table":"history","instance_id":"order-1","execution_id":1,"event_data":{"event_id":1, ...}}
//	{"table":"orchestrator_queue","visible_at_ms":1763800001000,"work_item":{"TimerFired":{ ... }}}
//	{"table":"worker_queue","work_item":{"ActivityExecute":{ ... }}}
//	{"table":"end","lines":6}
//
// The end line gives the number of lines, so that Read can detect a truncated file, and names the tables that the
// database lacks ("missing"). It may be omitted from a file without has_end. Read ignores keys and custom statuses,
// because they do not affect routing. A line may also consist of just an event or a work item. Rows for instances and
// executions may be missing, because the histories contain the same information. So may the queues: without a row of
// one and without an end line, what the histories show under way is queued. Read reports damage to the export as a
// Problem with file, line and field, counts what stores have in ordinary operation but runs cannot use as LeftOut, and
// reads everything else.
//
// An export contains no code. A stand-in repeats the calls in its instance's history, waits for all calls that are
// still open, and ends. If some execution of its orchestration has continued as new, it goes on doing so until it is
// cancelled. A new instance makes the calls found in its orchestration's longest history. Pins, kinds, queues and waits
// are therefore those of the export, but a stand-in does not know what the real code would do next.
package upgrade
