// Command duroxide-export exports the contents of a duroxide SQLite database for "simrun plan". It writes JSON lines to
// standard output.
//
//	duroxide-export orders.db > orders.jsonl
//	simrun plan my-upgrade.txt --store orders.jsonl
//
// It opens the database read-only and reads it in one transaction. A running cluster may use the database at the same
// time, and the export still shows its state at a single moment. A copy of a database in WAL mode needs its -wal, too.
// Columns that an older release lacks are omitted. Invalid rows are skipped and reported on standard error with their
// table and key, and so are missing tables. Exit status: 0 if all rows were written, 1 if a row or a table is missing, 2
// if the file could not be read.
//
// The command is a separate module, because nothing else needs its database driver.
package main
