// Command duroxide-export writes what an SQLite database of duroxide holds as an export for "simrun plan": JSON lines on
// standard output.
//
//	duroxide-export orders.db > orders.jsonl
//	simrun plan my-upgrade.txt --store orders.jsonl
//
// It opens the database read-only, so a cluster may be at work on it, and reads it in one transaction: the export is the
// state at one moment. Tables and columns that an older release does not have yet are left out. A row that makes no sense
// is named on standard error, with its table and key, and left out; everything else is written. Exit status: 0 all was
// written, 1 some rows were not, 2 the file cannot be read.
//
// It is a module of its own, as nothing else needs its driver.
package main
