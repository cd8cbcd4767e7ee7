// Command duroxide-export writes the contents of a duroxide SQLite database as an export for "simrun plan": JSON lines
// on standard output.
//
//	duroxide-export orders.db > orders.jsonl
//	simrun plan my-upgrade.txt --store orders.jsonl
//
// It opens the database read-only, so a cluster may be using it, and reads it in one transaction: the export is the
// state at one moment. It omits tables and columns that an older release does not have yet. It skips an invalid row and
// reports the row's table and key on standard error. Exit status: 0 if it wrote all rows, 1 if it skipped some rows, 2
// if it cannot read the file.
//
// The command is a separate module, because nothing else needs its database driver.
package main
