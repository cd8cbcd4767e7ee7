// Package sqlite is a provider that keeps everything in an SQLite database. It is an example of a provider under test,
// and passes what docs/check-your-provider.md tells authors of providers to run.
//
// The tables are those of docs/contract/provider.md#p3.1 (schema.sql), with one file for each concern. Each call is one
// transaction, which takes the database's only write lock when it begins: it takes effect at one instant, whichever
// process makes it, and reads its clock at that instant. Reads are such calls, too.
//
// What the contract leaves free is decided for the answer that is easier to rely on: promised, in the tests, are the
// freedoms that are not used.
//
// # Limits
//
// Calls follow each other, so a store serves as many as one disk commits. Fetches do not wait for work. Synchronous is
// NORMAL: after a loss of power the last commits may be missing, though never a part of one.
package sqlite
